import type { ErrorDetail } from '../../errors/app-error.js'
import { AppError } from '../../errors/app-error.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { findConflict } from '../data/data-conflicts.js'
import { locateRules } from '../modules/locate-rules.js'
import type { BaseDocument } from '../data/base-document.js'
import type { RegoModule } from '../modules/rego-module.js'

/**
 * Raises `invalid` for each rule whose path has a value in the data, with the rule's location and
 * the data's file.
 */
export async function refuseDataOverRules(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  documents: readonly BaseDocument[],
): Promise<void> {
  if (documents.length === 0) return
  const problems = await Promise.all(modules.map((module) => problemsOf(opa, module, documents)))
  const details = problems.flat()
  if (details.length > 0) throw dataOverRules(details)
}

/** Returns the error for all conflicts of a load. */
export function dataOverRules(details: readonly ErrorDetail[]): AppError {
  return new AppError('invalid', 'the data gives values to paths that rules define: remove one of the two', {
    details,
  })
}

/** Returns the detail of a conflict in OPA's words, with the data's file. */
export function dataOverRule(path: readonly string[], file: string): Omit<ErrorDetail, 'location'> {
  return {
    code: 'rego_compile_error',
    message: `conflicting rule for data path ${path.join('/')} found: ${file} has a value there`,
  }
}

async function problemsOf(
  opa: OpaProgram,
  module: RegoModule,
  documents: readonly BaseDocument[],
): Promise<ErrorDetail[]> {
  const conflicts = module.rules.flatMap(({ path, excludesData }, index) => {
    const whole = [...module.packagePath, ...path]
    const document = excludesData ? findConflict(documents, whole) : undefined
    return document === undefined ? [] : [{ index, problem: dataOverRule(whole, document.file) }]
  })
  if (conflicts.length === 0) return []
  const places = await locateRules(opa, module)
  return conflicts.map(({ index, problem }) => ({
    ...problem,
    location: places[index] ?? { file: module.file, row: 1, col: 1 },
  }))
}
