package signatures

import (
	"strings"

	"github.com/gitfor/gitfor/app/web"
	"golang.org/x/crypto/ssh"
)

// Routes mounts the instance's public keys, in the form of the file that
// gpg.ssh.allowedSignersFile names (git-config(1)).
func (s *Service) Routes(r *web.Router) {
	r.Raw().Get("/-/signing-keys", s.Gate.Anyone(), func(c *web.Ctx) error {
		var b strings.Builder
		for _, own := range s.own {
			key, err := ssh.ParsePublicKey(own)
			if err != nil {
				return err
			}
			b.WriteString(`* namespaces="git" ` + string(ssh.MarshalAuthorizedKey(key)))
		}
		return c.Text(b.String())
	})
}
