package settings

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/settingview"
)

// credentialKinds are what a kind of credentials is called, and the page on
// which it is looked after, in the order of the page.
var credentialKinds = [...]struct{ kind, label, page string }{
	{model.CredentialPasskey, "Passkey", "passkeys"},
	{model.CredentialRecovery, "Recovery code", "passkeys"},
	{model.CredentialToken, "Access token", "tokens"},
	{model.CredentialOAuth, "Token of an app", "applications"},
	{model.CredentialRefresh, "Renewing token of an app", "applications"},
	{model.CredentialSSHKey, "SSH key", "keys"},
	{model.CredentialGPGKey, "GPG key", "keys"},
}

// credentialActions are the entries of the audit log about credentials.
var credentialActions = []string{"passkey.*", "personal_access_token.*", "public_key.*", "gpg_key.*", "recovery_codes.*",
	"oauth_access.*", "oauth_authorization.*", "deploy_key.*", "deploy_token.*"}

// credentials shows every credential of the person, whatever its kind, and
// what was made and ended before.
func (s *Service) credentials(c *web.Ctx) error {
	kinds := make([]string, len(credentialKinds))
	for i, k := range credentialKinds {
		kinds[i] = k.kind
	}
	list, err := accountdb.Credentials(c.Context(), s.DB.Account(c.Viewer.ID()), kinds...)
	if err != nil {
		return err
	}
	p := settingview.CredentialsProps{Now: time.Now()}
	for _, k := range credentialKinds {
		for _, cr := range list {
			if cr.Kind == k.kind {
				p.Rows = append(p.Rows, settingview.Credential{Kind: k.label, Name: cr.Name, About: scopesIn(cr), Page: link.Settings(k.page),
					Made: cr.CreatedAt, Used: cr.UsedAt, Ends: cr.ExpiresAt})
			}
		}
	}
	p.Before, err = eventdb.Audit(c.Context(), s.DB.Events(), eventdb.AuditFilter{PersonID: c.Viewer.ID(), Actions: credentialActions, Limit: 200})
	if err != nil {
		return err
	}
	return s.page(c, "credentials", "Credentials", nil, settingview.Credentials(p))
}

// scopesIn says what a token may do.
func scopesIn(cr *model.Credential) string {
	var d struct {
		All    bool     `json:"all"`
		Scopes []string `json:"scopes"`
		Repos  []int64  `json:"repos"`
	}
	if cr.Kind != model.CredentialToken && cr.Kind != model.CredentialOAuth || json.Unmarshal(cr.Data, &d) != nil {
		return ""
	}
	about := strings.Join(d.Scopes, ", ")
	switch {
	case d.All:
		about = "everything that you can do"
	case about == "":
		about = "reading what is public"
	}
	if d.Repos != nil {
		about += ", in chosen repositories"
	}
	return about
}
