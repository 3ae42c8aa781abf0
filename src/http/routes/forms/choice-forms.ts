import { z } from 'zod'

import { deleteTemplate, listTemplates } from '../../../analysis/runs/template-operations.js'
import { numberOfName } from '../../../gates/definitions/pipeline-numbers.js'
import type { TemplateType } from '../../../store/ports/analysis-store.js'
import { actorOf } from '../../exchange/caller-of.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { textOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Route } from '../../pipeline/route.js'
import type { FormRoutesDeps } from './form-routes-deps.js'

const Environment = z.object({ id: z.int(), spinnakerEnvironment: z.string() })
const Policy = z.object({ policyId: z.int().min(1), policyName: z.string(), description: z.string() })
const Group = z.object({
  userGroupId: z.int(),
  userGroupName: z.string(),
  isAdmin: z.boolean(),
  isSuperAdmin: z.boolean(),
})
const COMMON = { method: 'GET', roles: ['orchestrator', 'auditor'], handler: 'forms' } as const
const USER = { user: textOf('Whoever is signed in; everybody is shown the same.') }
const APPLICATION = { application: textOf('The number of the application; templates are for all of them.') }
const { route } = routesOf<FormRoutesDeps>()

/** What is chosen from in the forms of stages (deck routes, 2f to 2l). */
export const choiceFormRoutes = [
  route({
    ...COMMON,
    path: '/oes/accountsConfig/spinnaker/environments',
    summary: 'The environments that the forms of stages offer',
    answers: { 200: json('The environments.', z.array(Environment)) },
    answer: (_, { environments }) =>
      jsonAnswer(
        environments.map((name) => ({
          id: numberOfName(name.toLowerCase()),
          spinnakerEnvironment: name,
        })),
      ),
  }),
  route({
    ...COMMON,
    path: '/oes/v2/policy/users/:user/runtime',
    summary: 'The policies that the forms of policy and approval stages offer',
    params: USER,
    answers: { 200: json('The policies that serve, but for static ones.', z.array(Policy)) },
    answer: (_, { runtimePolicies }) =>
      jsonAnswer(
        runtimePolicies().map(({ path, id }) => ({
          ...{ policyId: id, policyName: path, description: `The package ${path.replaceAll('/', '.')}` },
        })),
      ),
  }),
  route({
    ...COMMON,
    path: '/platformservice/v2/usergroups',
    summary: 'The groups that the form of an approval stage offers as approvers',
    answers: { 200: json('The groups of tokens.', z.array(Group)) },
    answer: (_, { groups }) =>
      jsonAnswer(
        groups.map((name) => ({
          ...{ userGroupId: numberOfName(name), userGroupName: name, isAdmin: false, isSuperAdmin: false },
        })),
      ),
  }),
  ...templateRoutes('METRIC', 'metricTemplates', 'deleteMetricTemplate'),
  ...templateRoutes('LOG', 'logTemplates', 'deleteLogTemplate'),
]

function templateRoutes(type: TemplateType, member: string, deletion: string): Route<FormRoutesDeps>[] {
  const word = type === 'METRIC' ? 'metric' : 'log'
  const Template = z.object({ templateName: z.string(), templateId: z.string() })
  return [
    route({
      ...COMMON,
      path: `/autopilot/api/v1/applications/:application/${member}`,
      summary: `The ${word} templates that the form of a verification stage offers`,
      params: APPLICATION,
      answers: { 200: json('The templates.', z.object({ [member]: z.array(Template) })) },
      answer: async (_, { reader }) => {
        const names = await reader.run(listTemplates, type)
        return jsonAnswer({ [member]: names.map((name) => ({ templateName: name, templateId: name })) })
      },
    }),
    route({
      method: 'DELETE',
      path: `/autopilot/api/v1/applications/:application/${deletion}/:name`,
      roles: ['admin'],
      handler: 'forms',
      summary: `Forget a ${word} template`,
      params: { ...APPLICATION, name: textOf('The name of the template.') },
      answers: {
        200: json('It is gone.', z.object({ templateName: z.string(), deleted: z.literal(true) })),
      },
      answer: async ({ exchange, params: { name } }, deps) => {
        await deps.writer.run(deleteTemplate, { type, name, actor: actorOf(exchange, deps) })
        return jsonAnswer({ templateName: name, deleted: true })
      },
    }),
  ]
}
