import { OPEN_POINT_IDS, openPoints, type OpenPoint, type OpenPointId } from '@agent-exchange/protocol'

const INTRODUCTION = `# Open points

The specification leaves some questions open on purpose. The exchange has to do something there, so it does the
least surprising thing, in one place: the deployment profile. Nothing on this page is protocol. Each entry is
our choice, named by the id of the point; input is never judged more narrowly than the specification does, and a
deployment may choose otherwise.

Point \`AEX_PROFILE\` at a JSON file that holds only what differs, by id and setting:

\`\`\`json
{ "O-15": { "maximum_limit": 200 }, "O-28": { "encryption_curves": ["P-256", "P-384"] } }
\`\`\`

\`aex profile FILE\` checks such a file and prints the effective profile; \`aex profile --explain O-15\` explains
one point. The schema of the file is \`packages/protocol/schemas/deployment-profile.schema.json\`. In
\`openapi.json\` whatever fills an open point carries \`x-open-point\` with the id.

This page is generated from \`packages/protocol/src/profile/\` by \`npm run generate\`.
`

export function openPointsPage(): string {
  return [INTRODUCTION, ...OPEN_POINT_IDS.map(section)].join('\n')
}

function section(id: OpenPointId): string {
  const { meaning, why, settings }: OpenPoint = openPoints[id]
  const rows = Object.entries(settings.properties).map(
    ([name, schema]) =>
      `| \`${name}\` | \`${JSON.stringify(Reflect.get(schema, 'default'))}\` | ${cell(String(Reflect.get(schema, 'description')))} |`,
  )
  return `## ${id}\n\n${meaning}\n\n*Ours:* ${why}\n\n| setting | default | meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
