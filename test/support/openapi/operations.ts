import { z } from 'zod'

const Operation = z.looseObject({
  operationId: z.string(),
  'x-roles': z.array(z.string()),
  'x-credential': z.string().optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z
    .array(
      z.looseObject({ name: z.string(), in: z.enum(['path', 'query']), required: z.boolean().optional() }),
    )
    .default([]),
  requestBody: z.looseObject({}).optional(),
  responses: z.record(z.string(), z.looseObject({})),
})
const Document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })

/** One operation of an OpenAPI document. */
export interface DescribedOperation {
  readonly method: string
  readonly path: string
  readonly operation: z.output<typeof Operation>
}

/** The operations of an OpenAPI document, in its order. */
export function openApiOperations(document: unknown): DescribedOperation[] {
  return Object.entries(Document.parse(document).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}
