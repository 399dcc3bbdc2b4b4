// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/segmentio/encoding/json"
)

// Read a list as the client reads it.
func read(text string, list any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DontMatchCaseInsensitiveStructFields()
	return decoder.Decode(list)
}

// Which lists the client throws away: of the definitions on stdin (../../../definitions/shapes.py) that may be listed.
func keep() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var shape struct {
			Kind       string   `json:"kind"`
			Definition string   `json:"definition"`
			Valid      []string `json:"valid"`
		}
		check(json.Unmarshal(lines.Bytes(), &shape))
		list, member := any(&mcp.ListToolsResult{}), shape.Kind
		switch shape.Kind {
		case "resources":
			list = &mcp.ListResourcesResult{}
		case "templates":
			list, member = &mcp.ListResourceTemplatesResult{}, "resourceTemplates"
		case "prompts":
			list = &mcp.ListPromptsResult{}
		}
		err := read(fmt.Sprintf(`{"%s":[%s]}`, member, shape.Definition), list)
		if err != nil && len(shape.Valid) > 0 {
			fmt.Println(shape.Definition, err)
		}
	}
	check(lines.Err())
}
