// Renders the chart with the template engine and the functions that Helm uses. Prints the documents as YAML.
// Usage: render CHART VALUES.json, where the values replace those of values.yaml.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func readYaml(file string) map[string]interface{} {
	text, err := os.ReadFile(file)
	check(err)
	values := map[string]interface{}{}
	check(yaml.Unmarshal(text, &values))
	return values
}

// Maps are merged, everything else is replaced, as by helm --values.
func override(values, with map[string]interface{}) {
	for key, value := range with {
		inner, isMap := value.(map[string]interface{})
		known, wasMap := values[key].(map[string]interface{})
		if isMap && wasMap {
			override(known, inner)
		} else {
			values[key] = value
		}
	}
}

func main() {
	folder := os.Args[1]
	chart, values, with := readYaml(filepath.Join(folder, "Chart.yaml")), readYaml(filepath.Join(folder, "values.yaml")), map[string]interface{}{}
	check(json.Unmarshal([]byte(os.Args[2]), &with))
	override(values, with)

	root := template.New("chart").Option("missingkey=zero").Funcs(sprig.TxtFuncMap())
	root.Funcs(template.FuncMap{
		"include": func(name string, data interface{}) (string, error) {
			var out bytes.Buffer
			err := root.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"toYaml": func(value interface{}) (string, error) {
			text, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"required": func(message string, value interface{}) (interface{}, error) {
			if value == nil || value == "" {
				return nil, fmt.Errorf("%s", message)
			}
			return value, nil
		},
	})
	files, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	check(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		_, err = root.New(filepath.Base(file)).Parse(string(text))
		check(err)
	}
	data := map[string]interface{}{
		"Values":  values,
		"Chart":   map[string]interface{}{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
		"Release": map[string]interface{}{"Name": "shop", "Namespace": "default", "Service": "Helm"},
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".tpl") {
			continue
		}
		fmt.Println("---")
		check(root.ExecuteTemplate(os.Stdout, filepath.Base(file), data))
	}
}
