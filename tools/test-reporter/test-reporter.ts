/**
 * The reporter of `npm test`: one line per file, failures in full where they happen, diagnostics, skipped
 * tests with their reasons, and node's own closing lines.
 */

import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

const MILLISECONDS = 1000

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  // Node reports one process after the other, so the tests since the last file are those of this one.
  let counts = NO_TESTS
  for await (const event of events) {
    if (isGroupedFile(event)) {
      yield groupedFileText(event, counts)
      counts = NO_TESTS
    } else {
      counts = counted(counts, event)
      const text = textOf(event)
      if (text !== '') yield text
    }
  }
}

interface Counts {
  readonly tests: number
  readonly passed: number
}

const NO_TESTS: Counts = { tests: 0, passed: 0 }

type Result = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>

const isResult = (event: TestEvent): event is Result =>
  event.type === 'test:pass' || event.type === 'test:fail'

const isTestFile = (path: string) => /\.test\.\w+$/u.test(path)

/** Where files share a process, each is a suite whose name is its path (tools/tests/shared-process.ts). */
function isGroupedFile(event: TestEvent): event is Result {
  if (!isResult(event) || event.data.details.type !== 'suite') return false
  return event.data.nesting === 0 && isTestFile(event.data.name)
}

function groupedFileText(event: Result, counts: Counts): string {
  const { name, details } = event.data
  const success = event.type === 'test:pass'
  return textOf(event) + fileLine(name, { success, duration_ms: details.duration_ms, counts })
}

function counted({ tests, passed }: Counts, event: TestEvent): Counts {
  if (!isResult(event) || event.data.details.type === 'suite') return { tests, passed }
  return { tests: tests + 1, passed: passed + Number(event.type === 'test:pass') }
}

function textOf({ type, data }: TestEvent): string {
  if (type === 'test:stdout' || type === 'test:stderr') return data.message
  if (type === 'test:summary')
    return data.file !== undefined && isTestFile(data.file) ? fileLine(data.file, data) : ''
  if (type === 'test:pass')
    return data.skip === undefined ? '' : `– ${place(data)}  ${data.name}: ${reason(data.skip)}\n`
  // node's totals have no file; what a test says by t.diagnostic has one.
  if (type === 'test:diagnostic')
    return `ℹ ${data.file === undefined ? '' : `${place(data)}  `}${data.message}\n`
  // A file or suite fails because something in it did; that something was reported already.
  if (type !== 'test:fail' || isEcho(data.details.error)) return ''
  return `✖ ${place(data)}  ${data.name}\n${indent(describeError(data.details.error))}\n`
}

interface Summary {
  readonly success: boolean
  readonly duration_ms: number
  readonly counts: { readonly passed: number; readonly tests: number }
}

function fileLine(file: string, { success, duration_ms: duration, counts }: Summary): string {
  const seconds = (duration / MILLISECONDS).toFixed(2).padStart(6)
  const passed = `${counts.passed}/${counts.tests}`.padStart(9)
  return `${success ? '✔' : '✖'}${passed} ${seconds} s  ${fromHere(file)}\n`
}

function place({ file, line }: { file?: string; line?: number }): string {
  return file === undefined ? '' : `${fromHere(file)}:${line ?? 1}`
}

function fromHere(file: string): string {
  return relative(process.cwd(), file)
}

function reason(skip: string | boolean): string {
  return typeof skip === 'string' && skip !== '' ? skip : 'skipped without a reason'
}

function isEcho(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed'
}

/** node wraps what a test threw; the cause is what its author wants to see, without the runner's own frames. */
function describeError(error: Error): string {
  const { cause } = error
  const text = cause instanceof Error ? inspect(cause) : error.message
  return text.replaceAll(/^ *at .*\(?node:internal\/.*\n?|^ *at .*\(node:async_hooks.*\n?/gmu, '')
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gmu, '    ')
}
