package accounts

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
)

func (s *Service) apiKeyRoutes(a *web.Router) {
	g := s.Gate
	a.Get("/user/keys", g.SignedIn("read:public_key"), s.apiKeys, &web.Doc{ID: "users/list-public-ssh-keys-for-authenticated-user", Summary: "List your SSH keys", Out: []Key{}})
	a.Post("/user/keys", g.SignedIn("write:public_key"), s.apiKeyAdd, &web.Doc{ID: "users/create-public-ssh-key-for-authenticated-user", Summary: "Add an SSH key", In: keyInput{}, Out: Key{}, Status: http.StatusCreated})
	a.Get("/user/keys/{id}", g.SignedIn("read:public_key"), s.apiKey, &web.Doc{ID: "users/get-public-ssh-key-for-authenticated-user", Summary: "Get one of your SSH keys", Out: Key{}})
	a.Delete("/user/keys/{id}", g.SignedIn("admin:public_key"), s.apiKeyRemove, &web.Doc{ID: "users/delete-public-ssh-key-for-authenticated-user", Summary: "Delete one of your SSH keys", Status: http.StatusNoContent})
	a.Get("/users/{owner}/keys", g.Account(), s.apiKeysOf, &web.Doc{ID: "users/list-public-keys-for-user", Summary: "List a user's SSH keys", Out: []PlainKey{}})
	// Every SSH key signs, so these lists are those of all keys; what is added
	// here signs only.
	a.Get("/user/ssh_signing_keys", g.SignedIn("read:public_key"), s.apiSigning, &web.Doc{ID: "users/list-ssh-signing-keys-for-authenticated-user", Summary: "List the SSH keys by which your commits are verified", Out: []SigningKey{}})
	a.Post("/user/ssh_signing_keys", g.SignedIn("write:public_key"), s.apiSigningAdd, &web.Doc{ID: "users/create-ssh-signing-key-for-authenticated-user", Summary: "Add an SSH key that only verifies your commits", In: keyInput{}, Out: SigningKey{}, Status: http.StatusCreated})
	a.Get("/user/ssh_signing_keys/{id}", g.SignedIn("read:public_key"), s.apiSigningOne, &web.Doc{ID: "users/get-ssh-signing-key-for-authenticated-user", Summary: "Get one of the SSH keys by which your commits are verified", Out: SigningKey{}})
	a.Delete("/user/ssh_signing_keys/{id}", g.SignedIn("admin:public_key"), s.apiKeyRemove, &web.Doc{ID: "users/delete-ssh-signing-key-for-authenticated-user", Summary: "Delete one of the SSH keys by which your commits are verified", Status: http.StatusNoContent})
	a.Get("/users/{owner}/ssh_signing_keys", g.Account(), s.apiSigningOf, &web.Doc{ID: "users/list-ssh-signing-keys-for-user", Summary: "List the SSH keys by which a user's commits are verified", Out: []SigningKey{}})
	a.Get("/user/gpg_keys", g.SignedIn("read:gpg_key"), s.apiGPG, &web.Doc{ID: "users/list-gpg-keys-for-authenticated-user", Summary: "List your GPG keys", Out: []GPG{}})
	a.Post("/user/gpg_keys", g.SignedIn("write:gpg_key"), s.apiGPGAdd, &web.Doc{ID: "users/create-gpg-key-for-authenticated-user", Summary: "Add a GPG key", In: gpgInput{}, Out: GPG{}, Status: http.StatusCreated})
	a.Delete("/user/gpg_keys/{id}", g.SignedIn("admin:gpg_key"), s.apiGPGRemove, &web.Doc{ID: "users/delete-gpg-key-for-authenticated-user", Summary: "Delete one of your GPG keys", Status: http.StatusNoContent})
	a.Get("/users/{owner}/gpg_keys", g.Account(), s.apiGPGOf, &web.Doc{ID: "users/list-gpg-keys-for-user", Summary: "List a user's GPG keys", Out: []GPG{}})
}

type keyInput struct {
	Title string `json:"title"`
	Key   string `json:"key"`
}

type gpgInput struct {
	Name    string `json:"name"`
	Armored string `json:"armored_public_key"`
}

func (s *Service) apiKeys(c *web.Ctx) error {
	keys, err := s.SSHKeys(c.Context(), c.Viewer.ID())
	if err != nil {
		return err
	}
	out := make([]Key, 0, len(keys))
	for _, k := range keys {
		if !k.SignsOnly {
			out = append(out, keyOf(c, k))
		}
	}
	return list(c, out)
}

func (s *Service) apiKeysOf(c *web.Ctx) error {
	keys, err := s.SSHKeys(c.Context(), c.Account.ID)
	if err != nil {
		return err
	}
	out := make([]PlainKey, 0, len(keys))
	for _, k := range keys {
		if !k.SignsOnly {
			out = append(out, PlainKey{ID: k.ID, Key: k.Public})
		}
	}
	return list(c, out)
}

func (s *Service) apiSigning(c *web.Ctx) error { return s.saySigning(c, c.Viewer.ID()) }

func (s *Service) apiSigningOf(c *web.Ctx) error { return s.saySigning(c, c.Account.ID) }

func (s *Service) saySigning(c *web.Ctx, accountID int64) error {
	keys, err := s.SSHKeys(c.Context(), accountID)
	if err != nil {
		return err
	}
	out := make([]SigningKey, len(keys))
	for i, k := range keys {
		out[i] = signingKeyOf(k)
	}
	return list(c, out)
}

func signingKeyOf(k *SSHKey) SigningKey {
	return SigningKey{ID: k.ID, Key: k.Public, Title: k.Name, CreatedAt: api.Time(k.CreatedAt)}
}

func (s *Service) ownKey(c *web.Ctx) (*SSHKey, error) {
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, err
	}
	return s.SSHKey(c.Context(), c.Viewer.ID(), id)
}

func (s *Service) apiSigningOne(c *web.Ctx) error {
	k, err := s.ownKey(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, signingKeyOf(k))
}

func (s *Service) apiSigningAdd(c *web.Ctx) error {
	var in keyInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	k, err := s.AddSigningKey(c.Context(), c.Viewer.ID(), in.Title, in.Key)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, signingKeyOf(k))
}

func (s *Service) apiKey(c *web.Ctx) error {
	k, err := s.ownKey(c)
	if err != nil {
		return err
	}
	if k.SignsOnly {
		return db.ErrNotFound
	}
	return c.JSON(http.StatusOK, keyOf(c, k))
}

func (s *Service) apiKeyAdd(c *web.Ctx) error {
	var in keyInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	k, err := s.AddSSHKey(c.Context(), c.Viewer.ID(), in.Title, in.Key)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, keyOf(c, k))
}

func (s *Service) apiKeyRemove(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.RemoveSSHKey(c.Context(), c.Viewer.ID(), id); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiGPG(c *web.Ctx) error { return s.sayGPG(c, c.Viewer.ID()) }

func (s *Service) apiGPGOf(c *web.Ctx) error { return s.sayGPG(c, c.Account.ID) }

func (s *Service) sayGPG(c *web.Ctx, accountID int64) error {
	keys, err := s.GPGKeys(c.Context(), accountID)
	if err != nil {
		return err
	}
	out := make([]GPG, len(keys))
	for i, k := range keys {
		out[i] = gpgOf(k)
	}
	return list(c, out)
}

func (s *Service) apiGPGAdd(c *web.Ctx) error {
	var in gpgInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	k, err := s.AddGPGKey(c.Context(), c.Viewer.ID(), in.Name, in.Armored)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, gpgOf(k))
}

func (s *Service) apiGPGRemove(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.RemoveGPGKey(c.Context(), c.Viewer.ID(), id); err != nil {
		return err
	}
	return c.NoContent()
}
