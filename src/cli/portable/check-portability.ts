import { openPlainHost } from '../../main/threads/plain-host-thread.js'
import type { LoadOptions, PolicyLocations, PolicyRequests, Snapshot } from '../../rego/index.js'
import type { Colours } from '../output/colours.js'
import { count } from '../output/text-table.js'
import { compareHosts } from './compare-hosts.js'
import type { HostQuery, Portability } from './compare-hosts.js'
import { readPortableModules } from './portable-modules.js'

const HOST = '@open-policy-agent/opa-wasm'

/**
 * Compares results with the plain host for OPA's modules. Raises the errors of
 * `readPortableModules`.
 */
export async function checkPortability(
  locations: PolicyLocations,
  { load, requests }: { load: LoadOptions; requests: PolicyRequests },
  snapshot: Snapshot,
  questions: readonly HostQuery[],
): Promise<Portability> {
  const modules = await readPortableModules(locations, load)
  const host = openPlainHost()
  try {
    return await compareHosts(snapshot, modules, questions, { host, requests })
  } finally {
    await host.close()
  }
}

/** Returns the text report: differences and totals. */
export function portabilityText({ same, skipped, findings }: Portability, colours: Colours): string {
  const lines = findings.map(
    ({ kind, rule, subject, message }) => `${colours.bad(kind)}  ${rule}  ${subject}\n  ${message}\n`,
  )
  const of = (kind: string): number => findings.filter((finding) => finding.kind === kind).length
  const parts = [
    `${same} equal`,
    `${of('different')} different`,
    `${of('lacking')} lacking a built-in`,
    ...(of('failed') + of('unnamed') > 0 ? [`${of('failed') + of('unnamed')} without an answer`] : []),
    ...(skipped > 0 ? [`${skipped} skipped because they fail here`] : []),
  ]
  return `\n${lines.join('')}${HOST}: ${count(same + findings.length, 'answer')}: ${parts.join(', ')}\n`
}
