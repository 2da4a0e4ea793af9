package auth

import (
	"github.com/gitfor/gitfor/app/web"
)

// recoveryCodesPath is the page that shows new recovery codes.
const recoveryCodesPath = "/signup/recovery-codes"

// Routes mounts the pages of signing up and in.
func (s *Service) Routes(r *web.Router) {
	g := s.gate
	r.Get("/signup", g.Anyone(), s.signupPage)
	r.Post("/signup", g.Anyone(), s.signupWithoutScript)
	r.Post("/signup/options", g.Anyone(), s.script(s.signupOptions))
	r.Post("/signup/passkey", g.Anyone(), s.script(s.signupPasskey))
	r.Get(recoveryCodesPath, g.SignedIn(), s.codesPage)
	r.Post(recoveryCodesPath, g.SignedIn(), s.codesKept)
	r.Get("/login", g.Anyone(), s.loginPage)
	r.Post("/login", g.Anyone(), s.loginWithoutScript)
	r.Post("/login/options", g.Anyone(), s.script(s.loginOptions))
	r.Post("/login/passkey", g.Anyone(), s.script(s.loginPasskey))
	r.Get("/login/recovery", g.Anyone(), s.recoveryPage)
	r.Post("/login/recovery", g.Anyone(), s.recoveryUse)
	r.Get("/login/restore/{token}", g.Anyone(), s.restorePage)
	r.Post("/login/restore/{token}", g.Anyone(), s.restore)
	r.Get("/logout", g.Anyone(), s.logoutPage)
	r.Post("/logout", g.Anyone(), s.logout)
	r.Get("/sudo", g.SignedIn(), s.sudoPage)
	r.Post("/sudo", g.SignedIn(), s.sudoCode)
	r.Post("/sudo/options", g.SignedIn(), s.script(s.sudoOptions))
	r.Post("/sudo/passkey", g.SignedIn(), s.script(s.sudoPasskey))
	r.Get("/passkey-link/{token}", g.Anyone(), s.linkPage)
	r.Post("/passkey-link/{token}/options", g.Anyone(), s.script(s.linkOptions))
	r.Post("/passkey-link/{token}/passkey", g.Anyone(), s.script(s.linkPasskey))
	r.Get("/verify-email/{token}", g.Anyone(), s.verifyPage)
	r.Post("/verify-email/{token}", g.Anyone(), s.verify)
	r.Post("/settings/passkeys/options", g.SignedIn(), s.script(s.addOptions))
	r.Post("/settings/passkeys/add", g.SignedIn(), s.script(s.addPasskeyDone))
}
