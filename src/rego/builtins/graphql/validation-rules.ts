import * as graphql from 'graphql'
import type { ASTVisitor, ValidationContext, ValidationRule } from 'graphql'

/** The rules that gqlparser has for queries, in its order, but for the one of variables in allowed positions. */
export const validationRules: readonly ValidationRule[] = [
  graphql.FieldsOnCorrectTypeRule,
  graphql.FragmentsOnCompositeTypesRule,
  graphql.KnownArgumentNamesRule,
  graphql.KnownDirectivesRule,
  graphql.KnownFragmentNamesRule,
  knownRootTypeRule,
  graphql.KnownTypeNamesRule,
  graphql.LoneAnonymousOperationRule,
  graphql.NoFragmentCyclesRule,
  graphql.NoUndefinedVariablesRule,
  graphql.NoUnusedFragmentsRule,
  graphql.NoUnusedVariablesRule,
  graphql.OverlappingFieldsCanBeMergedRule,
  graphql.PossibleFragmentSpreadsRule,
  graphql.ProvidedRequiredArgumentsRule,
  graphql.ScalarLeafsRule,
  graphql.SingleFieldSubscriptionsRule,
  graphql.UniqueArgumentNamesRule,
  graphql.UniqueDirectivesPerLocationRule,
  graphql.UniqueFragmentNamesRule,
  graphql.UniqueInputFieldNamesRule,
  graphql.UniqueOperationNamesRule,
  graphql.UniqueVariableNamesRule,
  graphql.ValuesOfCorrectTypeRule,
  graphql.VariablesAreInputTypesRule,
]

/** An operation whose type the schema has no root for: the package finds this only when it executes. */
function knownRootTypeRule(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      if (context.getSchema().getRootType(node.operation)) return
      context.reportError(
        new graphql.GraphQLError(`Schema does not support operation type "${node.operation}"`, {
          nodes: node,
        }),
      )
    },
  }
}
