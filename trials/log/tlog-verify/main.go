// tlog-verify asks torchwood whether notes and proofs satisfy a policy.
//
// It reads JSON objects on stdin and prints a line for each: "accepted" or "refused: WHY". With a leaf, the text is a
// C2SP tlog-proof of that leaf; without one, it is a signed checkpoint.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"
)

type question struct {
	Leaf []byte `json:"leaf"`
	Text string `json:"text"`
}

func main() {
	content, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	policy, err := torchwood.ParsePolicy(content)
	if err != nil {
		log.Fatal(err)
	}
	for decoder := json.NewDecoder(os.Stdin); ; {
		var asked question
		if err := decoder.Decode(&asked); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if err := verify(policy, asked); err != nil {
			fmt.Printf("refused: %q\n", err)
		} else {
			fmt.Println("accepted")
		}
	}
}

func verify(policy torchwood.Policy, asked question) error {
	if asked.Leaf == nil {
		_, _, err := torchwood.VerifyCheckpoint([]byte(asked.Text), policy)
		return err
	}
	return torchwood.VerifyProof(policy, tlog.RecordHash(asked.Leaf), []byte(asked.Text))
}
