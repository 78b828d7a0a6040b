module github.com/shardyard/shardyard

go 1.26.0
