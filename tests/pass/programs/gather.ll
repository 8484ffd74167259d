; A vector of addresses, each of which is accessed.
target triple = "x86_64-pc-linux-gnu"

define <4 x i32> @gather(<4 x ptr> %from, <4 x i1> %mask) {
  %values = call <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr> %from, i32 4, <4 x i1> %mask, <4 x i32> zeroinitializer)
  ret <4 x i32> %values
}

define void @scatter(<2 x ptr> %to, <2 x i64> %values, <2 x i1> %mask) {
  call void @llvm.masked.scatter.v2i64.v2p0(<2 x i64> %values, <2 x ptr> %to, i32 8, <2 x i1> %mask)
  ret void
}

declare <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr>, i32, <4 x i1>, <4 x i32>)
declare void @llvm.masked.scatter.v2i64.v2p0(<2 x i64>, <2 x ptr>, i32, <2 x i1>)
