// SPDX-License-Identifier: Apache-2.0

// List what a server over stdio offers with the official Go client, and print the names as JSON:
// lister REVISION COMMAND [ARGUMENT…]; or read definitions of stdin: lister keep
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	if os.Args[1] == "keep" {
		keep()
		return
	}
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "lister", Version: "1"}, nil)
	transport := &mcp.CommandTransport{Command: exec.Command(os.Args[2], os.Args[3:]...)}
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: os.Args[1]})
	check(err)
	found := map[string]any{"revision": session.InitializeResult().ProtocolVersion}

	tools, err := session.ListTools(ctx, nil)
	check(err)
	names := []string{}
	for _, item := range tools.Tools {
		names = append(names, item.Name)
	}
	found["tools"] = names

	resources, err := session.ListResources(ctx, nil)
	check(err)
	names = []string{}
	for _, item := range resources.Resources {
		names = append(names, item.Name)
	}
	found["resources"] = names

	templates, err := session.ListResourceTemplates(ctx, nil)
	check(err)
	names = []string{}
	for _, item := range templates.ResourceTemplates {
		names = append(names, item.Name)
	}
	found["templates"] = names

	prompts, err := session.ListPrompts(ctx, nil)
	check(err)
	names = []string{}
	for _, item := range prompts.Prompts {
		names = append(names, item.Name)
	}
	found["prompts"] = names

	check(session.Close())
	check(json.NewEncoder(os.Stdout).Encode(found))
}
