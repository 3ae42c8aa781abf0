import type { ErrorDetail } from '../../errors/app-error.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import type { LeftOutFiles } from '../compile/collect-sources.js'
import type { RegoModule } from '../modules/rego-module.js'
import { pathKey } from '../values/path-key.js'
import type { RegoObject } from '../values/value.js'
import { checkContradictions } from './check-contradictions.js'
import { checkMixedTypes } from './check-mixed-types.js'
import { checkLeftOut } from './check-left-out.js'
import { checkReferences } from './check-references.js'
import { checkVerdicts } from './check-verdicts.js'
import { DefinedDocuments } from './defined-documents.js'
import type { DefinedRule } from './defined-documents.js'
import { describeModule } from './describe-module.js'
import type { DescribedModule } from './describe-module.js'

const NOTHING_LEFT_OUT: LeftOutFiles = { rego: [], data: [] }

export interface AnalysisOptions {
  /** The patterns of the packages evaluated when a pipeline is saved. */
  readonly staticPackages: readonly string[]
  /** Paths of served rules without Rego text. */
  readonly rulesWithoutText?: readonly (readonly string[])[]
  /** Files next to the modules that are not served. */
  readonly leftOut?: LeftOutFiles | undefined
}

/**
 * Returns the mistakes of policies that compile: data that nothing defines, and rules that resemble
 * verdicts, in the order of the files. Tests are excluded. Yields to the event loop between
 * modules.
 */
export async function analysePolicies(
  modules: readonly RegoModule[],
  data: RegoObject,
  options: AnalysisOptions,
): Promise<ErrorDetail[]> {
  const served = modules.filter(({ file }) => !file.endsWith('_test.rego'))
  const turns = new ShortTurns()
  const described: DescribedModule[] = []
  for (const module of served) {
    described.push(describeModule(module))
    await turns.pause()
  }
  const { staticPackages, rulesWithoutText = [], leftOut = NOTHING_LEFT_OUT } = options
  const unwritten = rulesWithoutText.map((path) => ({ packagePath: path, path: [] }))
  const defined = new DefinedDocuments([...described.flatMap(definitionsIn), ...unwritten], data)
  await turns.pause()
  // The references and verdicts of such a rule are unknown.
  const complete = described.filter(({ module }) => !hasRuleAmong(module, rulesWithoutText))
  const findings: ErrorDetail[] = []
  for (const module of described) {
    findings.push(
      ...checkReferences(module, defined, leftOut.data),
      ...checkContradictions(module),
      ...checkMixedTypes(module),
    )
    await turns.pause()
  }
  findings.push(
    ...(await checkVerdicts(complete, staticPackages, turns)),
    ...checkLeftOut(leftOut.rego, staticPackages),
  )
  const order = new Map(served.map(({ file }, index) => [file, index]))
  const placeOf = ({ location }: ErrorDetail): number => order.get(location?.file ?? '') ?? order.size
  return findings.sort((a, b) => placeOf(a) - placeOf(b) || (a.location?.row ?? 0) - (b.location?.row ?? 0))
}

/** Rules may read documents that `with` sets. */
function definitionsIn({ module: { packagePath, rules }, replaced }: DescribedModule): DefinedRule[] {
  const elsewhere = replaced.map(({ path }) => ({ packagePath: [], path: path.map(String) }))
  return [{ packagePath, path: undefined }, ...rules.map(({ path }) => ({ packagePath, path })), ...elsewhere]
}

function hasRuleAmong({ packagePath }: RegoModule, rules: readonly (readonly string[])[]): boolean {
  const key = `${pathKey(packagePath)}/`
  return rules.some((path) => pathKey(path).startsWith(key))
}
