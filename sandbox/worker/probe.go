package worker

import (
	"context"
	"errors"
)

// Probe starts one worker and tells what its jail holds on this machine. An
// error says that none could be started at all.
func Probe(ctx context.Context, c Config) ([]Finding, error) {
	c.Isolation = PerTerminal
	c.Limits.Warm = -1
	p, err := NewPool(ctx, c)
	var missing *MissingError
	switch {
	case errors.As(err, &missing):
		return missing.Missing, nil
	case err != nil:
		return nil, err
	}
	return p.Findings(), p.Close()
}
