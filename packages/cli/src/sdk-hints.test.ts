import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXCHANGE_ERROR_CODES, ExchangeError } from '@agent-exchange/sdk'
import type { Command } from 'commander'
import { program } from './program.ts'

test('every command that a hint of the SDK names exists', async () => {
  const aex = await program()
  const named = EXCHANGE_ERROR_CODES.flatMap((code) => [
    ...new ExchangeError(code).hint.matchAll(/`aex ([a-z -]+)`/gu),
  ]).map(([, words = '']) => words)
  assert.ok(named.length > 5)
  for (const words of named) {
    let command: Command | undefined = aex
    for (const word of words.split(' ')) command = command?.commands.find((child) => child.name() === word)
    assert.ok(command, `aex ${words}`)
  }
})
