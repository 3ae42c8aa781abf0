import { Kind } from 'graphql'

/** The number that stands for the kind of a literal in gqlparser's tree. */
export const VALUE_KINDS = {
  [Kind.VARIABLE]: 0,
  [Kind.INT]: 1,
  [Kind.FLOAT]: 2,
  [Kind.STRING]: 3,
  block: 4,
  [Kind.BOOLEAN]: 5,
  [Kind.NULL]: 6,
  [Kind.ENUM]: 7,
  [Kind.LIST]: 8,
  [Kind.OBJECT]: 9,
} as const
