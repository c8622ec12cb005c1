package session

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"dsbo"
)

// Linger has the others know that the result is final, until all members of the last session know,
// or for Config.AbsentAfter (Config.PeerTimeout without a quorum): one that was lost at the very end
// then finds whoever it needs, or knows that it needs nobody.
func (a *Agent) Linger(ctx context.Context) error {
	a.mu.Lock()
	members := a.state.Log.Last(a.config.Matrix.N()).Members
	a.floodLocked(message{Subject: final})
	a.mu.Unlock()
	late := time.NewTimer(a.timeout())
	defer late.Stop()
	for known := false; !known; {
		a.mu.Lock()
		known = true
		for _, i := range members {
			known = known && a.finals[i]
		}
		a.mu.Unlock()
		if known {
			break
		}
		select {
		case <-a.news:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select { // the others are told once more
	case <-time.After(2 * a.config.Heartbeat):
	case <-ctx.Done():
	}
	return nil
}

// settingsRefused is the error of an agent whose settings all neighbours refuse.
func settingsRefused(why error) error { return dsbo.ConfigErrorf("%w", why) }

// dataTag returns what others see of Config.Data: the same for the same data in this run, and
// nothing that tells them of the data, as the key follows from the certificate's.
func (c *Config) dataTag() (string, error) {
	key := []byte(c.Run)
	if c.Identity != nil {
		var err error
		if key, err = c.Identity.Derive("tag of the data of " + c.Run); err != nil {
			return "", err
		}
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(c.Run))
	h.Write(c.Data)
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
