import {
  OPEN_POINT_IDS,
  openPoints,
  TRUST_CHOICE_IDS,
  type OpenPoint,
  type OpenPointId,
} from '@agent-exchange/protocol'

const INTRODUCTION = `# Open points

The specification intentionally leaves some questions open. Our answers are the deployment profile. Nothing on this
page is part of the protocol: each entry is our choice, named by the id of the open point, and a deployment can choose
differently. Validation of input is never stricter than the specification, unless safety depends on it; then the entry
says so.

Set \`AEX_PROFILE\` to a JSON file that contains only the differences, by id and setting:

\`\`\`json
{ "O-15": { "maximum_limit": 200 }, "O-28": { "encryption_curves": ["P-256", "P-384"] } }
\`\`\`

\`aex profile FILE\` validates the file and prints the effective profile. \`aex profile --explain O-15\` explains one
open point. The schema of the file is \`packages/protocol/schemas/deployment-profile.schema.json\`. In \`openapi.json\`,
\`x-open-point\` marks everything that depends on an open point.

A running exchange publishes its profile as \`x-deployment-profile\` in \`/openapi.json\`. Agents judge its behaviour by
that. What an agent or a verifier *trusts* is its own setting, and nothing that an exchange publishes changes it:
${TRUST_CHOICE_IDS.map((id) => `[${id}](#${id.toLowerCase()})`).join(', ')}. In a deployment, the same settings say what the
exchange accepts. \`aex agent rules\` shows both, and sets the trust of an agent.

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
  return `## ${id}\n\n${meaning}\n\n*Our choice:* ${why}\n\n| setting | default | meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
