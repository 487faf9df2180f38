/** What the last stage of a Containerfile says about the process. Pure: text in, facts out. */
export interface ImageProcess {
  readonly user: string
  readonly workingDirectory: string
  readonly environment: Readonly<Record<string, string>>
  readonly command: readonly string[]
  readonly healthCheck: readonly string[]
  readonly volumes: readonly string[]
}

export function readContainerfile(text: string): ImageProcess {
  const joined = text.replace(/\\\n\s*/gu, ' ')
  const stage = joined.slice(joined.lastIndexOf('\nFROM '))
  const instructions = stage
    .split('\n')
    .map((line) => /^(?<name>[A-Z]+)\s+(?<rest>.+)$/u.exec(line)?.groups)
    .filter((groups) => groups !== undefined)
  const all = (name: string) =>
    instructions.filter((each) => each['name'] === name).map((each) => each['rest'] ?? '')
  const last = (name: string) => {
    const value = all(name).at(-1)
    if (value === undefined) throw new Error(`the Containerfile has no ${name}`)
    return value
  }
  return {
    user: last('USER'),
    workingDirectory: last('WORKDIR'),
    environment: Object.fromEntries(all('ENV').map((each) => pairIn(each))),
    command: [...listIn(last('ENTRYPOINT')), ...listIn(last('CMD'))],
    healthCheck: listIn(last('HEALTHCHECK').replace(/^.*?CMD\s+/u, '')),
    volumes: all('VOLUME'),
  }
}

function pairIn(text: string): [string, string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}

function listIn(text: string): string[] {
  return JSON.parse(text) as string[]
}
