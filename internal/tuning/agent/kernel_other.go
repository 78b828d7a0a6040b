// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package agent

import "errors"

// errNotLinux is what other kernels have to say about Linux's settings.
var errNotLinux = errors.New("only machines that run Linux are tuned")

func defaultInterfaces() ([]string, error) { return nil, errNotLinux }

type interfaceQdisc struct{ name string }

func (interfaceQdisc) read() (string, error)     { return "", errNotLinux }
func (interfaceQdisc) original() (string, error) { return "", errNotLinux }
func (interfaceQdisc) write(string) error        { return errNotLinux }
func (interfaceQdisc) restore(string) error      { return errNotLinux }
