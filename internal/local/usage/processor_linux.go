// SPDX-License-Identifier: Apache-2.0

package usage

// processor is the model of the machine's processors; empty if it is not known.
func (r Reader) processor() string {
	processors, err := r.proc.CPUInfo()
	if err != nil || len(processors) == 0 {
		return ""
	}
	return processors[0].ModelName
}
