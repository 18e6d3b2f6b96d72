// Command apiserver runs etcd and the Kubernetes API server in one process, for tests.
//
// Usage: apiserver DIRECTORY ETCD_PORT [flags of kube-apiserver]. etcd listens on ETCD_PORT and the port after it, and keeps
// its data in DIRECTORY/etcd without waiting for the disk: what a test writes need not survive the machine.
package main

import (
	"fmt"
	"net/url"
	"os"
	"strconv"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: apiserver DIRECTORY ETCD_PORT [flags of kube-apiserver]"))
	}
	port, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fail(err)
	}
	clients, peers := listener(port), listener(port+1)
	config := embed.NewConfig()
	config.Name = "test"
	config.Dir = os.Args[1] + "/etcd"
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.ListenClientUrls, config.AdvertiseClientUrls = clients, clients
	config.ListenPeerUrls, config.AdvertisePeerUrls = peers, peers
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		fail(err)
	}
	<-etcd.Server.ReadyNotify()
	command := app.NewAPIServerCommand()
	command.SetArgs(append([]string{"--etcd-servers=" + clients[0].String()}, os.Args[3:]...))
	os.Exit(cli.Run(command))
}

func listener(port int) []url.URL {
	return []url.URL{{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
