// Layout of a blob and of an instruction, as in format.go; TestLayoutMatchesAssembly compares the two.
#define hdrMagic 0
#define hdrSize 8
#define hdrFlags 16
#define hdrReloc 24
#define hdrInit 56
#define hdrCommand 72
#define hdrPrograms 40
#define blobSlots 96
#define blobScratch 608
#define blobCode 1632

#define insNr 0
#define insFlags 4
#define insDst 8
#define insStep 12
#define insOk 16
#define insSkip 20
#define insArgs 32
#define insSize 80
