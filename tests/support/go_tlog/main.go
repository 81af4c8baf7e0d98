// Go's own code for transparent logs and signed notes, asked by the Python tests: JSON on standard input, JSON out.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type question struct {
	Leaves      [][]byte // the data of each leaf, in order
	VerifierKey string
	Note        string
	SignerKey   string // Go signs Text with it
	Text        string
	Inclusion   []proof
	Consistency []proof
}

type proof struct {
	From, Size int64
	Hashes     []tlog.Hash
}

type hashes []tlog.Hash

func (stored hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		found[i] = stored[index]
	}
	return found, nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	var asked question
	check(json.NewDecoder(os.Stdin).Decode(&asked))
	var stored hashes
	var roots []tlog.Hash
	for index, data := range asked.Leaves {
		grown, err := tlog.StoredHashes(int64(index), data, stored)
		check(err)
		stored = append(stored, grown...)
		root, err := tlog.TreeHash(int64(index)+1, stored)
		check(err)
		roots = append(roots, root)
	}
	for _, each := range asked.Inclusion {
		check(tlog.CheckRecord(each.Hashes, each.Size, roots[each.Size-1], each.From, tlog.RecordHash(asked.Leaves[each.From])))
	}
	for _, each := range asked.Consistency {
		check(tlog.CheckTree(each.Hashes, each.Size, roots[each.Size-1], each.From, roots[each.From-1]))
	}
	verifier, err := note.NewVerifier(asked.VerifierKey)
	check(err)
	opened, err := note.Open([]byte(asked.Note), note.VerifierList(verifier))
	check(err)
	signer, err := note.NewSigner(asked.SignerKey)
	check(err)
	signed, err := note.Sign(&note.Note{Text: asked.Text}, signer)
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"roots": roots, "text": opened.Text, "signed": string(signed)}))
}
