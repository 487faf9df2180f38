import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { rm } from 'node:fs/promises'
import { isOpenToOthers, readPrivateFile, writePrivateFile } from './private-file.ts'

const runningDeskFile = Type.Object(
  {
    /** Without the secret of the one-time link. */
    address: Type.String({ pattern: '^http://127\\.0\\.0\\.1:[0-9]{1,5}/$' }),
    process_id: Type.Integer({ minimum: 1 }),
  },
  { additionalProperties: false },
)
type RunningDesk = Shape<typeof runningDeskFile>
const runningDesk = shapeValidator(runningDeskFile, 'SDK')

/** Writes the address of a running desk into the agent's folder. Disposing of it removes the file. */
export async function publishDeskAddress(file: string, port: number): Promise<AsyncDisposable> {
  const desk: RunningDesk = { address: `http://127.0.0.1:${port}/`, process_id: process.pid }
  const text = `${JSON.stringify(desk)}\n`
  await writePrivateFile(file, text)
  return {
    async [Symbol.asyncDispose]() {
      // A second desk of the folder may have replaced the file. Its address stays.
      if ((await readPrivateFile(file).catch(() => undefined))?.text === text) await rm(file, { force: true })
    },
  }
}

/** Address of the desk that runs on the folder; undefined if none does, or if the file cannot be trusted. */
export async function readDeskAddress(file: string): Promise<string | undefined> {
  const found = await readPrivateFile(file).catch(() => undefined)
  if (!found || isOpenToOthers(found.mode, 'any')) return undefined
  const content = parsed(found.text)
  if (!runningDesk.accepts(content)) return undefined
  // A killed desk leaves its file behind, and another program may listen on its port now.
  return isRunning(content.process_id) ? content.address : undefined
}

function isRunning(processId: number): boolean {
  try {
    // Signal 0 only tests whether the process exists. EPERM means that it belongs to another user: not our desk.
    return process.kill(processId, 0)
  } catch {
    return false
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
