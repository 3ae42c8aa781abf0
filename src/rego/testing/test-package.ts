import { escapeRegExp } from '../../lib/text/escape-pattern.js'
import { AppError } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import { isTestFile } from '../compile/collect-sources.js'
import { findReferences } from '../lint/find-references.js'
import { readTokens } from '../modules/tokens/read-tokens.js'
import type { RegoModule } from '../modules/rego-module.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { pathKey } from '../values/path-key.js'
import { printPackageName } from '../values/print-data-ref.js'
import type { FileCoverage } from './coverage.js'
import { addVariableValues, measureCoverage, runOpaTests } from './opa-tests.js'
import type { OpaTest } from './opa-tests.js'
import { stageTests } from './stage-tests.js'
import type { StagedTests, TestedPolicies } from './stage-tests.js'

/** The tests of a package with their results. */
export interface PackageTestRun {
  readonly tests: readonly OpaTest[]
  /** The lines of each file that the passing tests evaluate, without test files. */
  readonly coverage: readonly FileCoverage[]
}

/**
 * Runs the tests that concern a package: those in the package itself, in the package of the same
 * name that ends in `_test`, and in test files that refer to it. Raises `invalid` with every problem
 * of the Rego, and `unavailable` beyond the limits of the program.
 */
export async function testPackage(
  opa: OpaProgram,
  policies: TestedPolicies,
  packagePath: readonly string[],
  limitMs: number,
): Promise<PackageTestRun> {
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    const staged = await stageTests(opa, policies, directory, limitMs)
    const packages = packagesWithTests(staged.modules, packagePath)
    if (packages.length === 0) return { tests: [], coverage: [] }
    const found = await testsOf(packages, staged)
    const tests = await addVariableValues(staged, found, undefined)
    return { tests, coverage: await measureCoverage(staged, tests) }
  })
}

async function testsOf(packages: readonly string[], staged: StagedTests): Promise<readonly OpaTest[]> {
  try {
    const all = await runOpaTests(staged, {
      run: `^data\\.?(${packages.map(escapeRegExp).join('|')})\\.`,
    })
    return all.filter((test) => packages.includes(test.package))
  } catch (raw) {
    if (raw instanceof AppError && raw.code === 'no_tests') return []
    throw raw
  }
}

/** Returns the names of the packages whose tests concern a package. */
function packagesWithTests(modules: readonly RegoModule[], wanted: readonly string[]): readonly string[] {
  const keys = new Set(modules.map((module) => pathKey(module.packagePath)))
  const own = pathKey(wanted)
  const isAbout = (path: readonly (string | number)[]): boolean => {
    const names = path.map(String)
    const length = names.findLastIndex((_, index) => keys.has(pathKey(names.slice(0, index + 1))))
    return length >= 0 && pathKey(names.slice(0, length + 1)) === own
  }
  const concerns = ({ file, text, packagePath }: RegoModule): boolean => {
    if (pathKey(packagePath.map(withoutTest)) === own || pathKey(packagePath) === own) return true
    if (!isTestFile(file)) return false
    const { imports, reads } = findReferences(readTokens(text).tokens)
    return [...imports, ...reads].some(({ path }) => isAbout(path))
  }
  const found = modules.filter(concerns).map((module) => printPackageName(module.packagePath))
  return [...new Set(found)]
}

function withoutTest(name: string, index: number, path: readonly string[]): string {
  return index === path.length - 1 ? name.replace(/_test$/, '') : name
}
