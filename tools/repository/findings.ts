/** Findings of the checks, and how they are reported. */

export interface Finding {
  readonly path: string
  readonly line: number
  readonly message: string
}

/** Prints findings as `path:line  message`, which editors recognize as links, and sets the exit code. */
export function reportFindings(findings: readonly Finding[], allWell: string): void {
  if (findings.length === 0) {
    console.log(allWell)
    return
  }
  for (const { path, line, message } of findings) console.log(`${path}:${line}  ${message}`)
  console.log(`\n${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`)
  process.exitCode = 1
}
