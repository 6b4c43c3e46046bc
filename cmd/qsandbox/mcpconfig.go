package main

import "github.com/spf13/cobra"

func newMCPConfig() *cobra.Command { return &cobra.Command{Use: "config", Short: "x", Example: "x", RunE: func(*cobra.Command, []string) error { return nil }} }
