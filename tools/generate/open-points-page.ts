import { OPEN_POINT_IDS, openPoints, type OpenPoint, type OpenPointId } from '@agent-exchange/protocol'

const INTRODUCTION = `# Open points

The specification leaves some questions open on purpose. The deployment profile answers each of them with the least
surprising choice. Nothing on this page is part of the protocol. Each entry is our choice, under the id of the open
point. Input is never restricted more than the specification does, and a deployment may change every setting.

Set \`AEX_PROFILE\` to a JSON file with the settings that differ, by id:

\`\`\`json
{ "O-15": { "maximum_limit": 200 }, "O-28": { "encryption_curves": ["P-256", "P-384"] } }
\`\`\`

\`aex profile FILE\` checks such a file and prints the effective profile; \`aex profile --explain O-15\` explains
one point. The schema of the file is \`packages/protocol/schemas/deployment-profile.schema.json\`. In
\`openapi.json\`, \`x-open-point\` marks every choice for an open point with its id.

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
