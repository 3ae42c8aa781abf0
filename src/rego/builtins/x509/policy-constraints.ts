import { TAG, contextTag, integerOf, oidOf, sequenceOf } from './der.js'
import type { DerNode } from './der.js'

/** What a certificate says of the policies of those below it (RFC 5280, 4.2.1.5, 4.2.1.11 and 4.2.1.14), each absent where it does not. */
export interface PolicyConstraints {
  readonly inhibitAnyPolicy: bigint | undefined
  readonly inhibitPolicyMapping: bigint | undefined
  readonly requireExplicitPolicy: bigint | undefined
  readonly mappings: readonly { readonly issuer: string; readonly subject: string }[]
}

export const POLICY_OID = {
  mappings: '2.5.29.33',
  constraints: '2.5.29.36',
  inhibitAny: '2.5.29.54',
} as const

/** Reads the extensions that `find` gives. Raises BuiltinError for broken ones. */
export function readPolicyConstraints(find: (oid: string) => DerNode | undefined): PolicyConstraints {
  const [constraints, inhibitAny] = [find(POLICY_OID.constraints), find(POLICY_OID.inhibitAny)]
  const limits = constraints === undefined ? [] : sequenceOf(constraints)
  const limit = (number: number): bigint | undefined => {
    const node = limits.find(({ tag }) => tag === contextTag(number))
    return node && integerOf({ ...node, tag: TAG.integer })
  }
  const mappings = find(POLICY_OID.mappings)
  return {
    inhibitAnyPolicy: inhibitAny && integerOf(inhibitAny),
    requireExplicitPolicy: limit(0),
    inhibitPolicyMapping: limit(1),
    mappings: (mappings === undefined ? [] : sequenceOf(mappings)).map((mapping) => {
      const [issuer, subject] = sequenceOf(mapping)
      return { issuer: oidOf(issuer), subject: oidOf(subject) }
    }),
  }
}
