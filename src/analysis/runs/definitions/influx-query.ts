import type { CanaryQueryMembers } from '../../../canary/index.js'
import { isRecord } from '../../../lib/validation/record.js'
import { isGiven } from './prometheus-query.js'
import type { BuiltQuery } from './prometheus-query.js'

/**
 * InfluxQL as `InfluxDbQueryBuilder` makes it, with the window and the scope (`name:value`, which becomes a condition) as placeholders; undefined
 * where nothing says what to ask.
 */
export function buildInfluxQuery(
  { metricName, fields, tags, groupByFields }: CanaryQueryMembers,
  template: string | undefined,
): BuiltQuery | undefined {
  if (template !== undefined) {
    const named = template.replaceAll('${timeFilter}', '$timeFilter').replaceAll('${step}', '$__interval')
    return { text: named }
  }
  if (!isGiven(metricName)) return undefined
  const [field, ...others] = fields ?? []
  if (field === undefined || others.length > 0) {
    return {
      problem: `names ${others.length + (field === undefined ? 0 : 1)} fields: name the one to judge`,
    }
  }
  const ofTags = Object.entries(isRecord(tags) ? tags : {}).map(
    ([name, value]) => ` AND "${name}"='${String(value).replace(/[\\']/g, '\\$&')}'`,
  )
  const by = groupByFields && groupByFields.length > 0 ? ` GROUP BY ${groupByFields.join(', ')}` : ''
  return {
    text: `SELECT ${field} FROM ${metricName} WHERE $timeFilter AND \${scope}${ofTags.join('')}${by}`,
  }
}
