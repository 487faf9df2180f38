/** Egress rules of rendered NetworkPolicies. Pure: text in, findings out. */

/** Rules without `to` open their ports for every address; so does a policy without rules of its own. */
export function openEgress(rendered: string): string[] {
  return policiesIn(rendered).flatMap(({ name, egress }) => {
    if (egress.length === 0) return [`${name} has no egress rule`]
    return egress
      .filter((rule) => !/^\s*to:\n\s+- \S/u.test(rule))
      .map((rule) => `${name} lets everything out by: ${rule.trim().replaceAll(/\s+/gu, ' ')}`)
  })
}

/** TCP and UDP ports that a policy opens, in the order of its rules. */
export function egressPorts(rendered: string, policy: string): number[] {
  const found = policiesIn(rendered).find(({ name }) => name === policy)
  return (found?.egress ?? []).flatMap((rule) =>
    [...rule.matchAll(/\bport: (\d+)/gu)].map(([, port]) => Number(port)),
  )
}

function policiesIn(rendered: string): { readonly name: string; readonly egress: readonly string[] }[] {
  return rendered
    .split(/^---$/mu)
    .filter((part) => part.includes('kind: NetworkPolicy'))
    .map((part) => ({
      name: /^ {2}name: (\S+)$/mu.exec(part)?.[1] ?? '',
      egress: (part.split(/^ {2}egress:$/mu)[1] ?? '')
        .replaceAll(/^ *#.*\n/gmu, '')
        .split(/^ {4}- /mu)
        .filter((rule) => rule.trim() !== ''),
    }))
}
