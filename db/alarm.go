package db

import (
	"context"
	"fmt"
	"time"
)

// InstanceAlarm names the alarm of what belongs to no scope.
const InstanceAlarm = "instance"

// Arm makes the scope's alarm ring at due or before. It is part of the
// transaction: what falls due and the alarm commit together.
func (t *scopeTx) Arm(ctx context.Context, due time.Time) error {
	return t.arm(ctx, t.in.scope.String(), due)
}

// Arm makes the instance's alarm ring at due or before.
func (t *InstanceTx) Arm(ctx context.Context, due time.Time) error {
	return t.arm(ctx, InstanceAlarm, due)
}

func (t *tx) arm(ctx context.Context, name string, due time.Time) error {
	_, err := t.bun.NewRaw(`INSERT INTO cell.alarms AS a (scope, due_at) VALUES (?, ?)
		ON CONFLICT (scope) DO UPDATE SET due_at = least(a.due_at, EXCLUDED.due_at), gen = a.gen + 1`, name, due).Exec(ctx)
	if err != nil {
		return fmt.Errorf("arm %s: %w", name, err)
	}
	d, in := t.d, due.Sub(t.now)
	if in < alarmPoll {
		t.AfterCommit(func() { d.bus.Notify(ctx, AlarmChannel, "") })
	}
	return nil
}

// alarmPoll is how long the alarms' clock sleeps at most; see AlarmPoll.
const alarmPoll = time.Minute

// AlarmPoll is how long the alarms' clock may sleep: an alarm that is due
// later needs no notice when it is set.
const AlarmPoll = alarmPoll
