// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// kernelsOwn stands for the queueing disciplines that the kernel gives an
// interface by itself: whatever was set is deleted then.
const kernelsOwn = "the kernel's own"

// kindMQ has a queueing discipline of its own for every transmit queue. As the
// root of a fast interface it must stay: one discipline for all queues is a
// lock that all processors wait for.
const kindMQ = "mq"

// interfaceQdisc is the queueing discipline of one interface.
type interfaceQdisc struct {
	name string
}

// tree are the queueing disciplines of an interface.
type tree struct {
	link netlink.Link
	root netlink.Qdisc
	// leaves are those of the transmit queues; none where the root has them all.
	leaves []netlink.Qdisc
}

func (q interfaceQdisc) tree() (*tree, error) {
	link, err := netlink.LinkByName(q.name)
	if err != nil {
		return nil, fmt.Errorf("find interface %s: %w", q.name, err)
	}
	found, err := consistent(func() ([]netlink.Qdisc, error) { return netlink.QdiscList(link) })
	if err != nil {
		return nil, fmt.Errorf("list queueing disciplines of %s: %w", q.name, err)
	}
	t := &tree{link: link}
	for _, qdisc := range found {
		if qdisc.Attrs().Parent == netlink.HANDLE_ROOT {
			t.root = qdisc
		}
	}
	if t.root == nil {
		return nil, fmt.Errorf("%s has no queueing discipline: it is down", q.name)
	}
	if t.root.Type() == kindMQ {
		for _, qdisc := range found {
			if isLeaf(qdisc.Attrs(), t.root.Attrs()) {
				t.leaves = append(t.leaves, qdisc)
			}
		}
	}
	return t, nil
}

func isLeaf(qdisc, root *netlink.QdiscAttrs) bool {
	major, minor := netlink.MajorMinor(qdisc.Parent)
	rootMajor, _ := netlink.MajorMinor(root.Handle)
	return major == rootMajor && minor != 0 && qdisc.Parent != netlink.HANDLE_ROOT && qdisc.Parent != netlink.HANDLE_INGRESS
}

// configured says whether somebody set the disciplines up: the kernel gives its
// own no handle.
func (t *tree) configured() bool {
	return slices.ContainsFunc(append([]netlink.Qdisc{t.root}, t.leaves...), func(qdisc netlink.Qdisc) bool {
		return qdisc.Attrs().Handle != 0
	})
}

// kind is the one that all packets meet, or all if there are several.
func (t *tree) kind() string {
	if len(t.leaves) == 0 {
		return t.root.Type()
	}
	var kinds []string
	for _, leaf := range t.leaves {
		kinds = append(kinds, leaf.Type())
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), " and ")
}

func (q interfaceQdisc) read() (string, error) {
	tree, err := q.tree()
	if err != nil {
		return "", err
	}
	return tree.kind(), nil
}

// original is what the kernel would do. What somebody else set up could not be
// put back just as it was.
func (q interfaceQdisc) original() (string, error) {
	tree, err := q.tree()
	if err != nil {
		return "", err
	}
	if tree.configured() {
		return "", fmt.Errorf("%s has a queueing discipline that somebody else set up, %s: "+
			"it stays until it is deleted (tc qdisc delete dev %s root)", q.name, tree.kind(), q.name)
	}
	return kernelsOwn, nil
}

func (q interfaceQdisc) write(wanted string) error {
	tree, err := q.tree()
	if err != nil {
		return err
	}
	if err := q.replace(tree, wanted); err != nil {
		err = fmt.Errorf("set the queueing discipline of %s to %s: %w", q.name, wanted, err)
		if !tree.configured() {
			err = errors.Join(err, q.restore(kernelsOwn))
		}
		return err
	}
	return nil
}

func (q interfaceQdisc) replace(tree *tree, wanted string) error {
	if tree.root.Type() != kindMQ {
		return netlink.QdiscReplace(newQdisc(tree.link, netlink.HANDLE_ROOT, wanted))
	}
	if tree.root.Attrs().Handle == 0 {
		// Only under a root with a handle can leaves be replaced.
		if err := netlink.QdiscReplace(newQdisc(tree.link, netlink.HANDLE_ROOT, kindMQ)); err != nil {
			return err
		}
		var err error
		if tree, err = q.tree(); err != nil {
			return err
		}
	}
	for _, leaf := range tree.leaves {
		if leaf.Type() == wanted {
			continue
		}
		if err := netlink.QdiscReplace(newQdisc(tree.link, leaf.Attrs().Parent, wanted)); err != nil {
			return err
		}
	}
	return nil
}

func newQdisc(link netlink.Link, parent uint32, kind string) netlink.Qdisc {
	attributes := netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Parent: parent}
	if kind == string(v1alpha1.QdiscHTB) {
		return netlink.NewHtb(attributes)
	}
	return &netlink.GenericQdisc{QdiscAttrs: attributes, QdiscType: kind}
}

// restore deletes what was set: the kernel then takes its own, as if the
// interface were new.
func (q interfaceQdisc) restore(string) error {
	tree, err := q.tree()
	if _, gone := errors.AsType[netlink.LinkNotFoundError](err); gone {
		return nil
	}
	if err != nil {
		return err
	}
	if !tree.configured() {
		return nil
	}
	if err := netlink.QdiscDel(tree.root); err != nil {
		return fmt.Errorf("delete the queueing discipline of %s: %w", q.name, err)
	}
	return nil
}
