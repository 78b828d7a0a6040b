// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package agent

import (
	"errors"

	"github.com/shardyard/shardyard/internal/tuning"
)

// errNotLinux is what other kernels have to say about Linux's settings.
var errNotLinux = errors.New("only machines that run Linux are tuned")

func defaultRoutes() ([]string, error) { return nil, errNotLinux }

func defaultInterfaces() ([]string, error) { return nil, errNotLinux }

type interfaceQdisc struct{ name string }

func (interfaceQdisc) read() (string, error)     { return "", errNotLinux }
func (interfaceQdisc) original() (string, error) { return "", errNotLinux }
func (interfaceQdisc) write(string) error        { return errNotLinux }
func (interfaceQdisc) restore(string) error      { return errNotLinux }

type routeMetric struct {
	route string
	kind  tuning.Kind
}

func (routeMetric) read() (string, error)     { return "", errNotLinux }
func (routeMetric) original() (string, error) { return "", errNotLinux }
func (routeMetric) write(string) error        { return errNotLinux }
func (routeMetric) restore(string) error      { return errNotLinux }
