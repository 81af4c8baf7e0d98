// Go's own code for transparent logs and signed notes, called by the Python tests: JSON on standard input and output.
package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type input struct {
	Leaves      [][]byte // the data of each leaf, in order
	VerifierKey string
	Note        string
	Witnesses   []string // their keys; Go's note package does not support timestamps in signatures, so they are parsed here
	SignerKey   string   // Go signs Text with it
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

// timed checks a witness's signature, which is over the time and the text: https://c2sp.org/tlog-cosignature.
type timed struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (witness timed) Name() string    { return witness.name }
func (witness timed) KeyHash() uint32 { return witness.hash }
func (witness timed) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	at := binary.BigEndian.Uint64(signature)
	message := append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", at), text...)
	return ed25519.Verify(witness.key, message, signature[8:])
}

func cosigned(signed []byte, key string) error {
	name, rest, _ := strings.Cut(key, "+")
	hash, encoded, _ := strings.Cut(rest, "+")
	typed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return err
	}
	number, err := strconv.ParseUint(hash, 16, 32)
	if err != nil {
		return err
	}
	expected := sha256.Sum256(append([]byte(name+"\n"), typed...))
	if typed[0] != 4 || binary.BigEndian.Uint32(expected[:]) != uint32(number) {
		return fmt.Errorf("%s: the key's type or hash is wrong", name)
	}
	_, err = note.Open(signed, note.VerifierList(timed{name, uint32(number), ed25519.PublicKey(typed[1:])}))
	return err
}

func main() {
	var request input
	check(json.NewDecoder(os.Stdin).Decode(&request))
	var stored hashes
	var roots []tlog.Hash
	for index, data := range request.Leaves {
		grown, err := tlog.StoredHashes(int64(index), data, stored)
		check(err)
		stored = append(stored, grown...)
		root, err := tlog.TreeHash(int64(index)+1, stored)
		check(err)
		roots = append(roots, root)
	}
	for _, each := range request.Inclusion {
		check(tlog.CheckRecord(each.Hashes, each.Size, roots[each.Size-1], each.From, tlog.RecordHash(request.Leaves[each.From])))
	}
	for _, each := range request.Consistency {
		check(tlog.CheckTree(each.Hashes, each.Size, roots[each.Size-1], each.From, roots[each.From-1]))
	}
	verifier, err := note.NewVerifier(request.VerifierKey)
	check(err)
	opened, err := note.Open([]byte(request.Note), note.VerifierList(verifier))
	check(err)
	for _, key := range request.Witnesses {
		check(cosigned([]byte(request.Note), key))
	}
	signer, err := note.NewSigner(request.SignerKey)
	check(err)
	signed, err := note.Sign(&note.Note{Text: request.Text}, signer)
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"roots": roots, "text": opened.Text, "signed": string(signed)}))
}
