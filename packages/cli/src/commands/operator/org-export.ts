import { existsSync, statSync } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { change, pathOf, read } from './operator-api.ts'
import { operatorCommand, optionalReasonOption, show, type OutputOptions } from './operator-command.ts'

const OWNER_ONLY = 0o600
/** More pages than any exchange has; a loop without an end is a defect. */
const MAXIMUM_PAGES = 10_000_000

interface ExportOptions extends OutputOptions {
  readonly out: string
  readonly reason?: string
}

export function orgExportCommand(): Command {
  return operatorCommand(
    'export',
    'Export the data of an organization: metadata, evidence and public keys, never content',
    'org export org_acme --out ./exports',
    'org export org_acme --out acme.ndjson --reason "request of 2 March"',
  )
    .argument('<org_id>', 'id of the organization')
    .requiredOption('--out <file|folder>', 'new file; in a folder it is named ORG_ID.ndjson')
    .addOption(optionalReasonOption())
    .action(exportOrganization)
}

/** One JSON object a line. The page is written before the next one is read, so memory stays bounded. */
async function exportOrganization(id: string, { out, reason, ...output }: ExportOptions): Promise<void> {
  const file = fileFor(out, id)
  if (existsSync(file)) throw new CommandFailure(`${file} exists already. Choose another file.`)
  const path = `${pathOf('organizations', id)}/export`
  const { next_cursor, ...header } = await change(path, { reason })
  const partial = `${file}.partial`
  try {
    await using handle = await open(partial, 'w', OWNER_ONLY)
    await handle.appendFile(lineOf({ type: 'header', data: header }))
    const counts = await writePages(handle, path, next_cursor)
    // Without this line the file is not complete.
    await handle.appendFile(lineOf({ type: 'end', data: { records: counts } }))
    await handle.sync()
    await rename(partial, file)
    show({ organization_id: id, file, records: counts }, output)
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined)
    throw writeFailure(error, file)
  }
}

async function writePages(handle: FileHandle, path: string, first: unknown): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  let after = first
  for (let page = 0; page < MAXIMUM_PAGES && typeof after === 'string'; page++) {
    const { records, next_cursor } = await read(path, { after })
    if (!Array.isArray(records)) throw new CommandFailure('The exchange answered with no records.')
    const found = records as { type: string }[]
    await handle.appendFile(found.map(lineOf).join(''))
    for (const { type } of found) counts[type] = (counts[type] ?? 0) + 1
    after = next_cursor
  }
  return counts
}

function lineOf(record: object): string {
  return `${JSON.stringify(record)}\n`
}

function fileFor(out: string, id: string): string {
  const isFolder = statSync(out, { throwIfNoEntry: false })?.isDirectory() ?? false
  return isFolder ? join(out, `${id}.ndjson`) : out
}

function writeFailure(error: unknown, file: string): unknown {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  if (error instanceof CommandFailure || typeof code !== 'string') return error
  return new CommandFailure(`${file} cannot be written (${code}).`)
}
