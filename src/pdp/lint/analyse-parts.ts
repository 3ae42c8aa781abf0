import { AppError } from '../../errors.js'
import type { ErrorDetail } from '../../errors.js'
import type { PolicyPart } from '../policy-part.js'
import type { RegoObject } from '../rego/value.js'
import { analysePolicies } from './analyse-policies.js'
import type { AnalysisOptions } from './analyse-policies.js'

export interface PartAnalysisOptions extends AnalysisOptions {
  /** Whether policies with findings load. */
  readonly undefinedData: 'warn' | 'refuse'
}

/**
 * The findings about all parts of a snapshot; `data` is what they have together. A bundle holds no rules as they were
 * written, so that nothing is found in it. Raises `invalid` naming all findings where they are to be refused.
 */
export async function analyseParts(
  parts: readonly Pick<PolicyPart, 'modules'>[],
  data: RegoObject,
  options: PartAnalysisOptions,
): Promise<ErrorDetail[]> {
  const findings = await Promise.all(
    parts.map(async ({ modules = [] }) => await analysePolicies(modules, data, options)),
  )
  const details = findings.flat()
  if (details.length > 0 && options.undefinedData === 'refuse') {
    throw new AppError(
      'invalid',
      'the policies read data that nothing defines, or have rules that look like verdicts and are none (policies.undefinedData is refuse)',
      { details },
    )
  }
  return details
}
