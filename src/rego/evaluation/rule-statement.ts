import { ALLOW_RULE, DENY_RULES, VERDICT_RULES } from '../values/verdict-rules.js'
import { allowStatement, denyStatement, documentStatement } from './denials.js'
import type { Statement } from './denials.js'
import { RegoObject, RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'

/**
 * Returns the verdict of the value at `steps` below a package, if `steps` lead to a rule or into
 * its value. A string, a number, an object or null states nothing, because the path names the wrong
 * rule. Nothing below a verdict rule is a verdict: `deny/x` may be true and mean no.
 */
export function ruleStatement(
  value: RegoValue | undefined,
  steps: readonly string[],
  name: string,
): Statement {
  const rule = steps.at(-1) ?? ''
  if (value === undefined || steps.slice(0, -1).some((step) => VERDICT_RULES.includes(step)))
    return 'undefined'
  if (DENY_RULES.includes(rule)) return denyStatement(value, name)
  if (rule === ALLOW_RULE) return allowStatement(value, name)
  if (value === false) return [`${name} is false`]
  if (value === true) return []
  if (Array.isArray(value) || value instanceof RegoSet) return denyStatement(value, name)
  return value instanceof RegoObject ? documentStatement(value, name) : 'undefined'
}
