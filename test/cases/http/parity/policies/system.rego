package system

main = {"user": input.user}
