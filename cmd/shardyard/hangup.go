// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os/signal"
	"syscall"
)

// untilHangup is the context of a command that has something to undo when its terminal goes.
// Where hangups are ignored, as nohup has it, the command outlives its terminal: to ask for
// them would undo that.
func untilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return context.WithCancel(ctx)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	// Whoever asks a second time does not want to wait.
	forget := context.AfterFunc(ctx, func() { signal.Reset(syscall.SIGINT, syscall.SIGTERM) })
	return ctx, func() {
		forget()
		stop()
	}
}
