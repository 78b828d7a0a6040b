// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/controllers/benchmark"
	"github.com/shardyard/shardyard/controllers/fault"
	"github.com/shardyard/shardyard/controllers/nodetuning"
	"github.com/shardyard/shardyard/controllers/shardnetwork"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/version"
)

// options are what the command line says.
type options struct {
	nodeImage        string
	clusterDomain    string
	watchNamespaces  []string
	podMonitorLabels map[string]string
	libraryMetrics   string
	tuningNamespace  string
	tuningImage      string
	restoreOnly      bool
	recorderImage    string
	metricsAddress   string
	probeAddress     string
	leaderElection   bool
	logLevel         string
}

func newCommand() *cobra.Command {
	var options options
	command := &cobra.Command{
		Use:           "operator",
		Short:         "Keep the ShardNetworks of a cluster as their specs say, and run its Benchmarks and Faults",
		Version:       version.Get().String(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(command *cobra.Command, _ []string) error {
			level, err := parseLevel(options.logLevel)
			if err != nil {
				return err
			}
			if err := options.validate(); err != nil {
				return err
			}
			ctrl.SetLogger(newLog(command, level))
			limitMemory(ctrl.Log)
			config, err := ctrl.GetConfig()
			if err != nil {
				return fmt.Errorf("find cluster: %w", err)
			}
			manager, err := newManager(config, &options)
			if err != nil {
				return err
			}
			built := version.Get()
			manager.GetLogger().Info("starting the operator",
				"version", built.Version, "commit", built.Commit, "go", built.Go, "platform", built.Platform)
			return manager.Start(command.Context())
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.nodeImage, "node-image", "", "image of the nodes of networks that name none")
	flags.StringVar(&options.clusterDomain, "cluster-domain", "cluster.local", "DNS domain of the operator's own cluster")
	flags.StringArrayVar(&options.watchNamespaces, "watch-namespace", nil,
		"namespace of the networks, benchmarks, schedules and faults that are kept; can be given several times (default all)")
	flags.StringToStringVar(&options.podMonitorLabels, "pod-monitor-label", nil,
		"label, as KEY=VALUE, that the cluster's Prometheus selects PodMonitors by")
	flags.StringVar(&options.libraryMetrics, "library-metrics", string(resources.LibraryMetricsDrop),
		"what Prometheus does with the metrics of the nodes' libraries: Drop or Keep")
	flags.StringVar(&options.tuningNamespace, "node-tuning-namespace", "",
		"namespace of the pods that tune machines; empty lets none run")
	flags.StringVar(&options.tuningImage, "node-tuning-image", "", "image of these pods, which is the operator's")
	flags.BoolVar(&options.restoreOnly, "node-tuning-restore-only", false,
		"tune no machine, and put the old values back on those that are tuned")
	command.MarkFlagsRequiredTogether("node-tuning-namespace", "node-tuning-image")
	flags.StringVar(&options.recorderImage, "recorder-image", "",
		"image of the pods that record and judge benchmarks and measure faults, which is the operator's; without it, none is run")
	flags.StringVar(&options.metricsAddress, "metrics-bind-address", ":8443",
		"address of the operator's metrics, over HTTPS for whoever the cluster authorises; 0 for none")
	flags.StringVar(&options.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 for none")
	flags.BoolVar(&options.leaderElection, "leader-elect", false, "let only one of several operators act at a time")
	flags.StringVar(&options.logLevel, "log-level", "info", "least severity that is logged: error, warn, info or debug")
	if err := command.MarkFlagRequired("node-image"); err != nil {
		panic(err)
	}
	command.AddCommand(newTuneCommand(), newRecordCommand(), newJudgeCommand(), newUploadCommand(), newServeArtifactCommand(),
		newServeLoaderCommand(), newCopyProgramCommand(), newFaultCommand(), newCheckCommand())
	command.AddCommand(newBackupCommands()...)
	return command
}

// newLog is the log of a command.
func newLog(command *cobra.Command, level slog.Level) logr.Logger {
	return logr.FromSlogHandler(slog.NewJSONHandler(command.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
}

func parseLevel(name string) (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return 0, fmt.Errorf("--log-level: %q is none of error, warn, info, debug", name)
	}
	return level, nil
}

// validate says which option has a value that there is none of.
func (o *options) validate() error {
	for _, namespace := range o.watchNamespaces {
		if faults := validation.IsDNS1123Label(namespace); len(faults) > 0 {
			return fmt.Errorf("--watch-namespace: %q is no name of a namespace: %s", namespace, faults[0])
		}
	}
	switch resources.LibraryMetrics(o.libraryMetrics) {
	case resources.LibraryMetricsDrop, resources.LibraryMetricsKeep:
		return nil
	default:
		return fmt.Errorf("--library-metrics: %q is none of Drop, Keep", o.libraryMetrics)
	}
}

// settings are what the controller of networks needs to know.
func (o *options) settings() shardnetwork.Settings {
	return shardnetwork.Settings{
		DefaultNodeImage:  o.nodeImage,
		ClusterDomain:     o.clusterDomain,
		OperatorNamespace: os.Getenv("POD_NAMESPACE"),
		OperatorAddress:   os.Getenv("POD_IP"),
		PodMonitorLabels:  o.podMonitorLabels,
		LibraryMetrics:    resources.LibraryMetrics(o.libraryMetrics),
	}
}

// keepsTunings says whether NodeTunings, which are in no namespace, are this
// operator's. One of some namespaces that may run no agents is not alone in its
// cluster: what it said of them, another one may have to take back.
func (o *options) keepsTunings() bool { return len(o.watchNamespaces) == 0 || o.tuningNamespace != "" }

// tuningSettings are what the controller of NodeTunings needs to know.
func (o *options) tuningSettings() nodetuning.Settings {
	return nodetuning.Settings{Namespace: o.tuningNamespace, Image: o.tuningImage, RestoreOnly: o.restoreOnly}
}

// benchmarkSettings are what the controller of Benchmarks needs to know.
func (o *options) benchmarkSettings() benchmark.Settings {
	return benchmark.Settings{Image: o.recorderImage, ClusterDomain: o.clusterDomain}
}

// faultSettings are what the controller of Faults needs to know.
func (o *options) faultSettings() fault.Settings {
	return fault.Settings{Image: o.recorderImage, ClusterDomain: o.clusterDomain}
}
