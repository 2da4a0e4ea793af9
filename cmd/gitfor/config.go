package main

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// config is the option table's values; see options.
type config struct {
	data, listen, sshListen, url, contentURL, databaseURL, smtpURL, smtpListen string
	roles, trustedProxies, rpID, outboundAllow, secretKeyFile                  string
	blobURL                                                                    string
	// restoring says that the data folder is being filled.
	restoring bool
	dev       bool
}

// option is one setting: a flag, an environment variable GITFOR_<NAME>, and a
// file named by GITFOR_<NAME>_FILE for what should not be in either.
type option struct {
	name, def, doc string
	value          func(c *config) *string
	everywhere     bool // accepted by every command, not only serve
	secret         bool // not shown by gitfor config
}

var options = []option{
	{"data", "./.gitfor", "folder of all data", func(c *config) *string { return &c.data }, true, false},
	{"database-url", "", "Postgres 15 or newer; default: a private Postgres below the data folder",
		func(c *config) *string { return &c.databaseURL }, true, true},
	{"secret-key-file", "", "key that seals secrets at rest; default DATA/secret.key",
		func(c *config) *string { return &c.secretKeyFile }, true, false},
	{"url", "", "public address; default http://localhost:PORT; passkeys are bound to its host",
		func(c *config) *string { return &c.url }, true, false},
	{"rp-id", "", "passkeys' relying party; default the host of --url, fixed at first start",
		func(c *config) *string { return &c.rpID }, true, false},
	{"blob-url", "", "where LFS objects and attachments are: s3://KEY:SECRET@HOST/BUCKET[/PREFIX]; default DATA/blobs",
		func(c *config) *string { return &c.blobURL }, true, true},
	{"listen", "127.0.0.1:3000", "address to serve HTTP on", func(c *config) *string { return &c.listen }, false, false},
	{"ssh-listen", "127.0.0.1:2222", `address to serve git over SSH on, or "off"`,
		func(c *config) *string { return &c.sshListen }, false, false},
	{"content-url", "", "second origin for raw user content", func(c *config) *string { return &c.contentURL }, false, false},
	{"smtp-url", "", "smtp://user:pass@host:port; default: mail goes to DATA/mail",
		func(c *config) *string { return &c.smtpURL }, false, true},
	{"smtp-listen", "", "address to take answers to mail on over SMTP; default: mail cannot be answered",
		func(c *config) *string { return &c.smtpListen }, false, false},
	{"roles", "web,ssh,jobs", "what this process does", func(c *config) *string { return &c.roles }, false, false},
	{"trusted-proxies", "", "CIDRs whose X-Forwarded-For counts",
		func(c *config) *string { return &c.trustedProxies }, false, false},
	{"outbound-allow", "", "CIDRs and hosts that webhooks, mirrors and imports may reach though they are not public",
		func(c *config) *string { return &c.outboundAllow }, false, false},
}

func envName(flag string) string {
	return "GITFOR_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// bind adds the options to flags; with all false only those that every
// command takes.
func (c *config) bind(flags *pflag.FlagSet, serve bool) {
	for _, o := range options {
		if o.everywhere == serve {
			continue
		}
		flags.StringVar(o.value(c), o.name, o.def, o.doc+" ["+envName(o.name)+"]")
	}
	if serve {
		flags.BoolVar(&c.dev, "dev", false, "show what is for developers, such as the component book")
	}
}

// fill sets what no flag set from the environment and from files it names.
func (c *config) fill(cmd *cobra.Command) error {
	for _, o := range options {
		v := o.value(c)
		if *v == "" {
			*v = o.def
		}
		if f := cmd.Flags().Lookup(o.name); f != nil && f.Changed {
			continue
		}
		env, ok := os.LookupEnv(envName(o.name))
		if file := os.Getenv(envName(o.name) + "_FILE"); !ok && file != "" && o.name != "secret-key" {
			b, err := os.ReadFile(file)
			if err != nil {
				return usageError{fmt.Errorf("%s_FILE: %w", envName(o.name), err)}
			}
			env, ok = strings.TrimSpace(string(b)), true
		}
		if ok && env != "" {
			*v = env
		}
	}
	dir, err := filepath.Abs(c.data)
	if err != nil {
		return usageError{fmt.Errorf("--data: %w", err)}
	}
	c.data = dir
	return nil
}

// app is the instance's configuration. SSH's port is what clone addresses
// show.
func (c *config) app() (app.Config, error) {
	out := app.Config{DataDir: c.data, ContentURL: strings.TrimRight(c.contentURL, "/"), RPID: c.rpID,
		SecretKeyFile: c.secretKeyFile, SMTPURL: c.smtpURL, SMTPListen: c.smtpListen, BlobURL: c.blobURL, OutboundAllow: list(c.outboundAllow),
		Version: version, Dev: c.dev, Env: os.LookupEnv, FailPoint: failPoint}
	host, port, err := net.SplitHostPort(c.listen)
	if err != nil {
		return out, usageError{fmt.Errorf("--listen %q: want HOST:PORT", c.listen)}
	}
	ip, err := netip.ParseAddr(host)
	out.Exposed = host != "localhost" && (err != nil || !ip.IsLoopback())
	out.URL = strings.TrimRight(c.url, "/")
	if out.URL == "" {
		out.URL = "http://localhost:" + port
	}
	u, err := url.Parse(out.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Path != "" {
		return out, usageError{fmt.Errorf("--url %q: want http(s)://HOST[:PORT] without a path", c.url)}
	}
	if err := checkContentURL(out.ContentURL, u.Hostname()); err != nil {
		return out, err
	}
	out.Alone = c.databaseURL == ""
	if c.sshListen != "off" {
		if c.role("ssh") {
			out.SSHListen = c.sshListen
		}
		_, sshPort, err := net.SplitHostPort(c.sshListen)
		if err != nil {
			return out, usageError{fmt.Errorf(`--ssh-listen %q: want HOST:PORT or "off"`, c.sshListen)}
		}
		out.SSHHost = u.Hostname()
		if out.SSHPort, err = strconv.Atoi(sshPort); err != nil {
			return out, usageError{fmt.Errorf("--ssh-listen %q: the port is no number", c.sshListen)}
		}
	}
	if _, _, err := net.SplitHostPort(c.smtpListen); err != nil && c.smtpListen != "" {
		return out, usageError{fmt.Errorf("--smtp-listen %q: want HOST:PORT", c.smtpListen)}
	}
	for _, cidr := range list(c.trustedProxies) {
		p, err := netip.ParsePrefix(cidr)
		if err != nil {
			addr, addrErr := netip.ParseAddr(cidr)
			if addrErr != nil {
				return out, usageError{fmt.Errorf("--trusted-proxies %q: want a CIDR such as 10.0.0.0/8", cidr)}
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		out.TrustedProxies = append(out.TrustedProxies, p)
	}
	return out, nil
}

// checkContentURL refuses a content origin that could set cookies for the
// main one, or read its: the host must be neither the same, above nor below.
func checkContentURL(content, host string) error {
	if content == "" {
		return nil
	}
	u, err := url.Parse(content)
	if err != nil || u.Hostname() == "" {
		return usageError{fmt.Errorf("--content-url %q: want http(s)://HOST[:PORT]", content)}
	}
	other := u.Hostname()
	if other == host || strings.HasSuffix(other, "."+host) || strings.HasSuffix(host, "."+other) {
		return usageError{fmt.Errorf("--content-url %q: the host must be neither %s nor above or below it", content, host)}
	}
	return nil
}

func (c *config) role(name string) bool {
	for _, r := range list(c.roles) {
		if r == name || r == "all" {
			return true
		}
	}
	return false
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
