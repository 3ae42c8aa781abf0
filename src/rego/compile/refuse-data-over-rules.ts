import type { ErrorDetail } from '../../errors/app-error.js'
import { AppError } from '../../errors/app-error.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { findConflict } from '../data/data-conflicts.js'
import { locateRules } from '../modules/locate-rules.js'
import type { BaseDocument } from '../data/base-document.js'
import type { RegoModule } from '../modules/rego-module.js'

/** Raises `invalid` with the rule's place and the data's file for each rule at whose path the data has a value. */
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

/** The error for all conflicts of one load. */
export function dataOverRules(details: readonly ErrorDetail[]): AppError {
  return new AppError('invalid', 'the data gives values to paths that rules define: remove one of the two', {
    details,
  })
}

/** The problem of one rule; the words are those of OPA, which does not name the data's file. */
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
