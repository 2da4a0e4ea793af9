// Package outbound is the one way in which gitfor calls addresses that people
// gave it: webhooks, mirrors, imports. It reaches public addresses only, and
// what the operator allowed beside them. The address is checked when the
// connection is made, so neither a name that resolves to something else the
// second time nor a redirect gets past it.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// ErrForbidden says that an address is not public and not allowed.
var ErrForbidden = errors.New("address is not public")

// Guard decides which addresses may be reached.
type Guard struct {
	prefixes []netip.Prefix
	hosts    map[string]bool
	resolver *net.Resolver
}

// NewGuard makes a guard that allows public addresses and what allow names:
// addresses and CIDRs ("10.0.0.0/8", "::1"), and host names, whose addresses
// then may be any.
func NewGuard(allow []string) (*Guard, error) {
	g := &Guard{hosts: map[string]bool{}, resolver: net.DefaultResolver}
	for _, a := range allow {
		a = strings.TrimSpace(a)
		if a == "" {
			continue
		}
		if p, err := netip.ParsePrefix(a); err == nil {
			g.prefixes = append(g.prefixes, unmapped(p))
			continue
		}
		if ip, err := netip.ParseAddr(strings.Trim(a, "[]")); err == nil {
			ip = ip.Unmap()
			g.prefixes = append(g.prefixes, netip.PrefixFrom(ip, ip.BitLen()))
			continue
		}
		if strings.ContainsAny(a, "/:@ ") {
			return nil, fmt.Errorf("outbound allow list: %q is no address, CIDR or host name", a)
		}
		g.hosts[hostKey(a)] = true
	}
	return g, nil
}

func unmapped(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96).Masked()
	}
	return p.Masked()
}

func hostKey(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// Allowed says whether an address may be reached.
func (g *Guard) Allowed(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	for _, p := range g.prefixes {
		if p.Contains(a) {
			return true
		}
	}
	if nat64.Contains(a) {
		// The IPv4 address that a translator would reach counts.
		b := a.As16()
		return Public(netip.AddrFrom4([4]byte(b[12:16])))
	}
	return Public(a)
}

// nat64 is the well-known prefix of translators (RFC 6052). Their own
// prefixes, 6to4 and Teredo are never public here.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// special are the ranges of IANA's special-purpose registries that are not
// globally reachable, multicast, and what must not be reached by name
// (https://www.iana.org/assignments/iana-ipv4-special-registry,
// https://www.iana.org/assignments/iana-ipv6-special-registry).
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

var (
	// globalUnicast is what of IPv6 is assigned to the public network; all
	// else is refused.
	globalUnicast = netip.MustParsePrefix("2000::/3")
	special6      = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48")
)

// Public says that an address belongs to the public network.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if a.Is4() {
		for _, p := range special {
			if p.Contains(a) {
				return false
			}
		}
		return true
	}
	if !a.IsValid() || a.Zone() != "" || !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range special6 {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

const (
	dialTimeout = 5 * time.Second
	keepAlive   = 30 * time.Second
)

// DialContext connects to address ("host:port"). Every address that the host
// has is checked; one that is forbidden forbids the host. The check is made
// again by the socket itself, on the address that it connects to.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, Resolver: g.resolver}
	if g.hosts[hostKey(host)] {
		return dialer.DialContext(ctx, network, address)
	}
	if err := g.check(ctx, host); err != nil {
		return nil, err
	}
	dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !g.Allowed(ap.Addr()) {
			return fmt.Errorf("%w: %s", ErrForbidden, ap.Addr())
		}
		return nil
	}
	return dialer.DialContext(ctx, network, address)
}

// check refuses a host that has an address which may not be reached.
func (g *Guard) check(ctx context.Context, host string) error {
	if ip, err := netip.ParseAddr(host); err == nil {
		if !g.Allowed(ip) {
			return fmt.Errorf("%w: %s", ErrForbidden, ip)
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	ips, err := g.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return err
	}
	for _, ip := range ips {
		if !g.Allowed(ip) {
			// Which address it is stays here: the person who asks may be
			// looking for the inside of the network.
			return fmt.Errorf("%w: %s", ErrForbidden, host)
		}
	}
	return nil
}
