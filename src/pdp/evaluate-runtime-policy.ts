import { AppError } from '../errors.js'
import { askPackages } from './ask-packages.js'
import { ruleDenials } from './denials.js'
import { evaluateValue } from './evaluate-document.js'
import type { DocumentPlan } from './evaluate-document.js'
import type { EvaluationCall } from './wasm/policy-instance.js'

/**
 * The reasons against an execution, from the policy that a path names: a package with those below it, or one rule.
 * No reasons is an allow. Raises `evaluation_failed` when the policy cannot be evaluated, and when nothing at the path
 * states a verdict: a path that leads nowhere must not let anything through.
 */
export function evaluateRuntimePolicy(
  plan: DocumentPlan,
  input: Uint8Array | undefined,
  call: EvaluationCall,
): string[] {
  const { target, path, snapshot } = plan
  const isRule = target !== undefined && (target.rest.length > 0 || target.entrypoint.kind === 'rule')
  if (isRule) return [...new Set(ruleDenials(evaluateValue(plan, input, call), path))]
  const own = path.join('/')
  const packages = snapshot.packages.filter((name) => name === own || name.startsWith(`${own}/`))
  const verdict = askPackages(snapshot, packages, input, call, { undefinedDenies: true })
  if (verdict.evaluated.length === 0) throw noPolicy(path)
  return verdict.denials.map(({ text }) => text)
}

function noPolicy(path: readonly string[]): AppError {
  return new AppError(
    'evaluation_failed',
    `no policy at data.${path.join('.')} states a verdict: check the path, and that its package is loaded and has a deny, violation or allow rule`,
    { code: 'undefined_policy' },
  )
}
