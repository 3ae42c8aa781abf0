import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { Lookup, Tool } from './tool/tool.js'
import { optionalText, shortText, toolUrl } from './tool/tool.js'

const PROJECT_KEY = {
  pattern: /^[A-Za-z0-9_.:-]{1,400}$/,
  words: 'the key of a project such as org.example:shop, or several',
}
const REQUIRED = ['bugs', 'reliability_rating', 'security_rating'] as const
const OPTIONAL = [
  'sqale_rating',
  'vulnerabilities',
  'code_smells',
  'coverage',
  'duplicated_lines_density',
] as const
const RATINGS = ['A', 'B', 'C', 'D', 'E']

const GateStatus = z.object({
  projectStatus: z.object({
    status: shortText,
    conditions: z
      .array(
        z.object({
          status: shortText,
          metricKey: shortText,
          actualValue: optionalText,
          errorThreshold: optionalText,
        }),
      )
      .nullish(),
  }),
})
const Measures = z.object({
  component: z.object({
    name: optionalText,
    measures: z.array(z.object({ metric: z.string(), value: z.string().optional() })),
  }),
})

/**
 * Projects by key, from the Web API: `GET /api/qualitygates/project_status` and `GET
 * /api/measures/component`.
 */
export const sonarqube: Tool = {
  connectorTypes: ['SONARQUBE'],
  lookups: (parameters, baseUrl) =>
    parameters.list('projectKey', PROJECT_KEY).map((projectKey) => projectLookup(projectKey, baseUrl)),
}

function projectLookup(projectKey: string, baseUrl: string): Lookup {
  return {
    subject: projectKey,
    fetch: async (read) => {
      const gateUrl = toolUrl(baseUrl, ['api', 'qualitygates', 'project_status'], { projectKey })
      const metricKeys = [...REQUIRED, ...OPTIONAL].join(',')
      const measuresUrl = toolUrl(baseUrl, ['api', 'measures', 'component'], {
        component: projectKey,
        metricKeys,
      })
      const [gate, measures] = await Promise.all([read(GateStatus, gateUrl), read(Measures, measuresUrl)])
      const { status, conditions } = gate.projectStatus
      return [
        {
          projectKey,
          name: measures.component.name,
          qualityGate: status,
          ...toMeasures(measures),
          failedConditions: (conditions ?? [])
            .filter((condition) => condition.status !== 'OK')
            .map(({ metricKey, actualValue, errorThreshold }) => ({
              metricKey,
              actualValue,
              errorThreshold,
            })),
          url: toolUrl(baseUrl, ['dashboard'], { id: projectKey }),
        },
      ]
    },
  }
}

/**
 * A project without an analysis has no measures. They are null, so that no policy takes that for
 * zero bugs.
 */
function toMeasures({ component }: z.output<typeof Measures>): object {
  const values = new Map(component.measures.map(({ metric, value }) => [metric, value]))
  const missing = REQUIRED.filter((metric) => values.get(metric) === undefined)
  if (missing.length > 0) throw new AppError('not_found', `the project has no ${missing.join(', ')} yet`)
  return {
    bugs: toNumber(values.get('bugs')),
    vulnerabilities: toNumber(values.get('vulnerabilities')),
    codeSmells: toNumber(values.get('code_smells')),
    coverage: toNumber(values.get('coverage')),
    duplicatedLines: toNumber(values.get('duplicated_lines_density')),
    reliabilityRating: toRating(values.get('reliability_rating')),
    securityRating: toRating(values.get('security_rating')),
    maintainabilityRating: toRating(values.get('sqale_rating')),
  }
}

/** Ratings are numbers from 1.0 to 5.0, shown as A to E. */
function toRating(value: string | undefined): string | null {
  return value === undefined ? null : (RATINGS[Number(value) - 1] ?? value)
}

function toNumber(value: string | undefined): number | null {
  return value === undefined ? null : Number(value)
}
