import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { refuseTarget } from '../../lib/outbound/refuse-target.js'
import type { AddressPolicy } from '../../lib/outbound/address-policy.js'

/** Callers send texts, arrays and numbers for strings of the contract. */
const Anything = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
])
/** Highest length of an id or a URL, which are in indexes, logs and responses. */
const MAX_WORD_LENGTH = 4096
/** An id or a URL as trimmed text. */
export const Word = z
  .union([z.string(), z.number()])
  .transform((value) => String(value).trim())
  .refine((text) => text !== '', 'must not be empty')
  .refine((text) => text.length <= MAX_WORD_LENGTH, `must not have more than ${MAX_WORD_LENGTH} characters`)

/** Members of every dialect. Others are stored unchanged. */
const PLUGIN_MEMBERS = {
  executionId: Word,
  approvalCallbackURL: Word,
  rejectionCallbackURL: Word,
  toolConnectorParameters: Anything,
}

/** Trigger of the orchestrator's plugins. */
export const PluginTriggerBody = z.looseObject(PLUGIN_MEMBERS)

/** Trigger of the contract (section 4.2), with all six members. */
export const ContractTriggerBody = z.looseObject({
  ...PLUGIN_MEMBERS,
  imageIds: Anything,
  connectorType: Anything,
})

export type TriggerBody = z.output<typeof PluginTriggerBody>

/** Raises `invalid` with a sentence for each callback URL that the configuration forbids. */
export function requireAllowedCallbacks(body: TriggerBody, policy: AddressPolicy): void {
  const details = (['approvalCallbackURL', 'rejectionCallbackURL'] as const).flatMap(
    (name): ErrorDetail[] => {
      const refusal = refuseTarget(body[name], policy)
      return refusal === undefined ? [] : [{ code: 'callback_not_allowed', message: `${name}: ${refusal}` }]
    },
  )
  if (details.length === 0) return
  const sentences = details.map(({ message }) => message).join('; ')
  throw new AppError('invalid', `the gate cannot call back: ${sentences}`, {
    code: 'callback_not_allowed',
    details,
  })
}
