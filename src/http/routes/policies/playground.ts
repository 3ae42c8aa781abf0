import { z } from 'zod'

import { jsonAnswer } from '../../exchange/json-answer.js'
import { jsonBody } from '../../input/body-reader.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

/** A file of Rego to try together with the loaded policies. */
export interface SourceTrial {
  /** Loaded file that it replaces, as `sources` of the policy names it. */
  readonly file?: string | undefined
  readonly text: string
  /** The document to evaluate: `app/rules/deny`. */
  readonly path: string
  /** JSON text; undefined without an input. */
  readonly input?: string | undefined
}

/**
 * Returns the value of the document; undefined for an undefined one. Raises `invalid` with every
 * problem of the Rego, and `unavailable` if too many wait or a limit is exceeded.
 */
export type TrySource = (trial: SourceTrial) => Promise<unknown>

export interface PlaygroundRoutesDeps {
  readonly trySource: TrySource
  readonly maxBodyBytes: number
}

const MAX_PATH = 1000
const MAX_FILE = 1000
const Trial = z.strictObject({
  file: z
    .string()
    .max(MAX_FILE)
    .optional()
    .describe('The loaded file that the text replaces. Without it, the text is added.'),
  text: z.string().min(1).describe('Rego.'),
  path: z.string().max(MAX_PATH).describe('Path of the document to evaluate, such as `app/rules/deny`.'),
  input: z.unknown().optional(),
})

/** `POST /playground`: tries a changed policy. Nothing is recorded and nothing is put in service. */
export const playgroundRoutes = [
  routesOf<PlaygroundRoutesDeps>().route({
    method: 'POST',
    path: '/playground',
    roles: ['author', 'auditor'],
    handler: 'playground',
    summary: 'Evaluate a document with a changed policy file, without putting it in service',
    body: jsonBody(Trial),
    answers: {
      200: json(
        'The result; without `result` if the document is undefined.',
        z.object({ result: z.unknown().optional() }),
      ),
    },
    answer: async ({ body: { file, text, path, input } }, { trySource }) =>
      jsonAnswer({
        result: await trySource({
          ...{ file, text, path },
          input: input === undefined ? undefined : JSON.stringify(input),
        }),
      }),
  }),
]
