import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import type { RegoModule } from '../modules/rego-module.js'
import type { PolicyPart } from '../snapshot/policy-part.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import type { RegoObject } from '../values/value.js'
import { analysePolicies } from './analyse-policies.js'
import type { AnalysisOptions } from './analyse-policies.js'

export interface PartAnalysisOptions extends AnalysisOptions {
  /** Whether policies with findings load. */
  readonly undefinedData: 'warn' | 'refuse'
}

/**
 * Returns the findings about all parts; `data` is the merged data. `entrypointsOf` lists the rules
 * of a module, because a bundle may leave out the Rego of some. Raises `invalid` with all findings
 * if they are refused.
 */
export async function analyseParts<Part extends Pick<PolicyPart, 'modules' | 'leftOut'>>(
  parts: readonly Part[],
  data: RegoObject,
  options: PartAnalysisOptions,
  entrypointsOf: (part: Part) => readonly (readonly string[])[] = () => [],
): Promise<ErrorDetail[]> {
  const findings = await Promise.all(
    parts.map(async (part) => {
      const rulesWithoutText = findRulesWithoutText(part.modules, entrypointsOf(part))
      const { modules, leftOut } = part
      return await analysePolicies(modules, data, { ...options, rulesWithoutText, leftOut })
    }),
  )
  const details = findings.flat()
  if (details.length > 0 && options.undefinedData === 'refuse') {
    throw new AppError(
      'invalid',
      'the policies read data that nothing defines, have rules that look like verdicts and are none, or bodies that never hold (policies.undefinedData is refuse)',
      { details },
    )
  }
  return details
}

/** Returns the rules of a module without Rego text: OPA removes compiled rules from bundles. */
function findRulesWithoutText(
  modules: readonly RegoModule[],
  entrypoints: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const documents = new Set<string>()
  for (const module of modules) for (const key of documentsOf(module)) documents.add(key)
  return entrypoints.filter((path) => !documents.has(pathKey(path)))
}

const known = new WeakMap<RegoModule, readonly string[]>()

/** Returns the keys of the documents above the entrypoints. */
function documentsOf(module: RegoModule): readonly string[] {
  const found = known.get(module) ?? findDocuments(module)
  known.set(module, found)
  return found
}

function findDocuments({ packagePath, rules }: RegoModule): readonly string[] {
  const written = [packagePath, ...rules.map(({ path }) => [...packagePath, ...path])].map(pathKey)
  return [...new Set(written.flatMap(withThoseAbove))]
}

function withThoseAbove(key: string): string[] {
  const path = pathOfKey(key)
  return Array.from({ length: path.length + 1 }, (_, length) => pathKey(path.slice(0, length)))
}
