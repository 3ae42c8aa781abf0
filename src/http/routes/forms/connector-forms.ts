import { z } from 'zod'

import { connectorForms, connectorTypeOf } from '../../../gates/connectors/form-fields.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { textOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { FormRoutesDeps } from './form-routes-deps.js'

const Field = z.object({
  name: z.string(),
  label: z.string(),
  helpText: z.string(),
  type: z.enum(['string', 'array']),
})
const Form = z.object({
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
  datasourceType: z.string().default('').describe('The type of connector; all of them where none is named.'),
})
const COMMON = { method: 'GET', roles: ['orchestrator', 'auditor'], handler: 'forms' } as const
const { route } = routesOf<FormRoutesDeps>()

/** What the form of an approval stage asks of connectors (deck routes, 2a to 2c): an account is chosen, and then what is looked up. */
export const connectorFormRoutes = [
  route({
    ...COMMON,
    path: '/visibilityservice/v6/getAllConnectorFields',
    summary: 'What each type of connector is asked for, for the form of an approval stage',
    answers: { 200: json('The types that there is an account for.', z.array(Form)) },
    answer: (_, { accounts }) =>
      jsonAnswer(
        [...connectorForms(accounts)]
          // The form cannot show one that is asked for nothing.
          .filter(([, { fields }]) => fields.length > 0)
          .map(([connectorType, { helpText, fields }]) => ({
            ...{ connectorType, helpText, isMultiSupported: true, supportedParams: fields },
          })),
      ),
  }),
  route({
    ...COMMON,
    path: '/visibilityservice/v2/toolConnectors/configuredConnectorTypes',
    summary: 'The types of connectors that there are accounts of, for the form of an approval stage',
    answers: { 200: json('What people call each type.', z.record(z.string(), z.string())) },
    answer: (_, { accounts }) =>
      jsonAnswer(Object.fromEntries([...connectorForms(accounts)].map(([type, { label }]) => [type, label]))),
  }),
  route({
    ...COMMON,
    path: '/platformservice/v6/users/:user/datasources',
    summary: 'The accounts of a type of connector, for the form of an approval stage',
    params: { user: textOf('Whoever is signed in; everybody is shown the same.') },
    query: AccountsQuery,
    answers: { 200: json('The accounts, by name and type alone.', z.array(Account)) },
    answer: ({ query: { datasourceType } }, { accounts }) => {
      const wanted = datasourceType.toUpperCase()
      const found = accounts.map((account) => ({ name: account.name, type: connectorTypeOf(account) }))
      return jsonAnswer(
        found
          .filter(({ type }) => wanted === '' || type === wanted)
          // The form leaves out an account of GitHub without the member, and keeps what it is given in the browser's storage.
          .map(({ name, type }) => ({ name, datasourceType: type, configurationFields: { token: '' } })),
      )
    },
  }),
]
