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
import { connectorForms, connectorTypeOf } from '../../../gates/connectors/form-fields.js'

const Environment = z.object({ id: z.int(), spinnakerEnvironment: z.string() })
const Policy = z.object({ policyId: z.int().min(1), policyName: z.string(), description: z.string() })
const Group = z.object({
  userGroupId: z.int(),
  userGroupName: z.string(),
  isAdmin: z.boolean(),
  isSuperAdmin: z.boolean(),
})
const COMMON = { method: 'GET', roles: ['orchestrator', 'auditor'], handler: 'forms' } as const
const USER = { user: textOf('The signed-in user; all users see the same.') }
const APPLICATION = { application: textOf('Number of the application; templates are shared by all.') }
const { route } = routesOf<FormRoutesDeps>()

/** Choices of the stage forms (deck routes, 2f to 2l). */
export const choiceFormRoutes = [
  route({
    ...COMMON,
    path: '/oes/accountsConfig/spinnaker/environments',
    summary: 'The environments that stage forms offer',
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
    summary: 'The policies that policy and approval stages offer',
    params: USER,
    answers: { 200: json('The loaded policies except static ones.', z.array(Policy)) },
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
    summary: 'The approver groups that the approval stage offers',
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
      summary: `The ${word} templates that the verification stage offers`,
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
      summary: `Delete a ${word} template`,
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

const Field = z.object({
  name: z.string(),
  label: z.string(),
  helpText: z.string(),
  type: z.enum(['string', 'array']),
})
const ConnectorForm = z.object({
  connectorType: z.string(),
  helpText: z.string(),
  isMultiSupported: z.literal(true),
  supportedParams: z.array(Field).min(1),
})
const Account = z.object({
  name: z.string(),
  datasourceType: z.string(),
  configurationFields: z.object({ token: z.literal('') }),
})
const AccountsQuery = z.looseObject({
  datasourceType: z.string().default('').describe('Connector type; all by default.'),
})
/** Connector types, accounts and fields of the approval stage's form (deck routes, 2a to 2c). */
export const connectorFormRoutes = [
  route({
    ...COMMON,
    path: '/visibilityservice/v6/getAllConnectorFields',
    summary: 'The form fields of each connector type, for the approval stage',
    answers: { 200: json('The types with an account.', z.array(ConnectorForm)) },
    answer: (_, { accounts }) =>
      jsonAnswer(
        [...connectorForms(accounts)]
          // The form cannot show a connector without fields.
          .filter(([, { fields }]) => fields.length > 0)
          .map(([connectorType, { helpText, fields }]) => ({
            ...{ connectorType, helpText, isMultiSupported: true, supportedParams: fields },
          })),
      ),
  }),
  route({
    ...COMMON,
    path: '/visibilityservice/v2/toolConnectors/configuredConnectorTypes',
    summary: 'The connector types with accounts, for the approval stage',
    answers: { 200: json('Display name by type.', z.record(z.string(), z.string())) },
    answer: (_, { accounts }) =>
      jsonAnswer(Object.fromEntries([...connectorForms(accounts)].map(([type, { label }]) => [type, label]))),
  }),
  route({
    ...COMMON,
    path: '/platformservice/v6/users/:user/datasources',
    summary: 'The accounts of a connector type, for the approval stage',
    params: { user: textOf('The signed-in user; all users see the same.') },
    query: AccountsQuery,
    answers: { 200: json('The accounts, by name and type only.', z.array(Account)) },
    answer: ({ query: { datasourceType } }, { accounts }) => {
      const wanted = datasourceType.toUpperCase()
      const found = accounts.map((account) => ({ name: account.name, type: connectorTypeOf(account) }))
      return jsonAnswer(
        found
          .filter(({ type }) => wanted === '' || type === wanted)
          // The form hides GitHub accounts without this member, and stores what it receives in the
          // browser.
          .map(({ name, type }) => ({ name, datasourceType: type, configurationFields: { token: '' } })),
      )
    },
  }),
]
